/** Paying in a browser with the wallet that the sandbox brings along. */
import t from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';
import { purchaseOf } from './purchase-page.ts';

const gateway = await startGateway();
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const IMAGE = '/image/family-a-2-pro';
const PROMPT = { prompt: 'a lighthouse in fog' };
const PRICE = 50_000n;

for (const { network, name } of [
  { network: 'chain-c', name: 'Chain C' },
  { network: 'chain-a', name: 'Chain A' },
]) {
  t.test(`a picture is bought with play money on ${network}, and seen`, { skip: noBrowser }, async (t) => {
    const { page, complaints } = await openPage(t);
    const [before, { settlementCount }] = [await gateway.earned(network), await gateway.calls()];
    await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
    await page.getByText('Sandbox wallet (play money)').waitFor();
    await page.getByLabel('Network').selectOption({ label: `${name}, USDC` });
    t.equal((await gateway.calls()).settlementCount, settlementCount, 'choosing pays nothing');
    await page.getByRole('button', { name: `Pay 0.05 USDC on ${name}` }).click();
    const picture = page.getByRole('region', { name: 'What you bought' }).getByRole('img');
    await picture.waitFor();
    t.ok(
      await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
      'it is seen',
    );
    t.equal((await gateway.earned(network)) - before, PRICE, 'the price was paid, once');
    const steps = page.getByRole('list', { name: 'Steps of the purchase' });
    t.same(await steps.locator('> li > p > b').allTextContents(), ['Price', 'Signature', 'Payment', 'Answer']);
    const transaction = await steps.locator('.copyable code').getAttribute('title');
    t.match(transaction, network === 'chain-a' ? /^[1-9A-HJ-NP-Za-km-z]{64,90}$/ : /^0x[0-9a-f]{64}$/);
    t.notMatch(await page.content(), /"signature"|payment-signature/, 'the signature itself is not shown');
    t.same(complaints, []);
  });
}

t.test('from the front page to a picture: searched, priced, mended, paid and seen', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(gateway.url);
  await page.getByLabel('Search').fill('image fourteen reference');
  await page.getByRole('link', { name: /An image in 1k, 2k or 4k/ }).click();
  await page.getByRole('button', { name: 'Pay 0.10 USDC on Chain C' }).waitFor();
  await page.getByLabel('resolution').selectOption('4k');
  await page.getByText('0.15 USD', { exact: true }).waitFor();
  await page.getByLabel('referenceImage').fill('not an address');
  await page.locator('#field-referenceImage-fault').waitFor();
  t.equal((await gateway.calls()).settlementCount, 0);
  await page.getByLabel('referenceImage').fill('');
  await page.locator('#field-referenceImage-fault').waitFor({ state: 'hidden' });
  const before = await gateway.earned('chain-c');
  await page.getByRole('button', { name: 'Pay 0.15 USDC on Chain C' }).click();
  await page.getByRole('region', { name: 'What you bought' }).getByRole('img').waitFor();
  t.equal((await gateway.earned('chain-c')) - before, 150_000n);
  t.match(await page.locator('.copyable code').last().getAttribute('title'), /^0x/);
  t.same(complaints, []);
});
