/** Paying and chatting, in each theme and on a phone, as axe and a narrow screen see it. */
import t from 'tap';
import { lookedAt, looks, noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';
import { purchaseOf } from './purchase-page.ts';

t.teardown(stopBrowser);

const IMAGE = '/image/family-a-2-pro';

for (const { name, ...options } of looks.filter(({ name }) => ['in light', 'at 390 pixels in dark'].includes(name))) {
  t.test(`axe finds nothing ${name}, and nothing scrolls sideways`, { skip: noBrowser }, async (t) => {
    const gateway = await startGateway({ networks: ['chain-c'] });
    t.teardown(gateway.stop);
    const { page, complaints } = await openPage(t, options);
    const isFine = async (state: string): Promise<void> => {
      t.same(await lookedAt(page), { findings: [], sideways: 0 }, state);
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/${name} ${state}.png`, fullPage: true });
    };

    await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' }));
    const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
    await pay.waitFor();
    await isFine('a price');
    await gateway.fault({ settlement: 'chain-c', fault: '500' });
    await pay.click();
    await page.getByRole('button', { name: 'Ask again with the same payment' }).waitFor();
    await isFine('a lost answer');
    await page.getByRole('button', { name: 'Ask again with the same payment' }).click();
    await page.getByRole('region', { name: 'What you bought' }).getByRole('img').waitFor();
    for (const summary of await page.locator('.steps summary').all()) await summary.click();
    await page.locator('.result summary').click();
    await isFine('a result');

    await page.goto(`${gateway.url}/chat`);
    await page.getByLabel('API key').waitFor();
    await isFine('a key');
    await page.getByRole('button', { name: "Use the sandbox's key (play money)" }).click();
    await page.getByText('100 USD').waitFor();
    await page.getByLabel('Message').fill('Why is fog white?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('before: 100 USD').waitFor();
    await isFine('a conversation');
    t.same(complaints, []);
  });
}
