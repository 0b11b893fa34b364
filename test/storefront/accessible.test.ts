/** Paying and chatting, in each theme and on a phone, as axe and a narrow screen see it. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { noBrowser, openPage, purchaseOf, stopBrowser } from './browser.ts';

t.teardown(stopBrowser);

const IMAGE = '/image/family-a-2-pro';

/** What axe finds in what is shown. Its script comes past the page's policy, as a browser's extension does. */
async function findings(page: Page): Promise<string[]> {
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const looks = [
  { name: 'in light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'in dark', colorScheme: 'dark', viewport: { width: 390, height: 800 } },
] as const;

for (const { name, ...options } of looks) {
  t.test(`axe finds nothing ${name}, and nothing scrolls sideways`, { skip: noBrowser }, async (t) => {
    const gateway = await startGateway({ networks: ['chain-c'] });
    t.teardown(gateway.stop);
    const { page, complaints } = await openPage(t, { ...options, bypassCSP: true });
    await page.addInitScript(axe.source);
    const isFine = async (state: string): Promise<void> => {
      t.same(await findings(page), [], state);
      const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      t.equal(await page.evaluate(sideways), 0, `${state} is as wide as the screen`);
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
