/** Paying in a browser with the wallet that the sandbox brings along. */
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { noBrowser, openPage, purchaseOf, stopBrowser } from './browser.ts';

t.teardown(stopBrowser);

const IMAGE = '/image/family-a-2-pro';

t.test('a picture is bought with play money, and seen', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway();
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' }));
  await page.getByLabel('Network').waitFor();
  console.error(await page.locator('main').innerText(), complaints);
  t.same(complaints, []);
});
