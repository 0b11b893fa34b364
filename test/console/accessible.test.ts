/** Every page of the console, in each theme and on a phone, as axe and a narrow screen see it. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser, openConsole, stopBrowser } from './browser.ts';

t.teardown(stopBrowser);

/** What axe finds in what is shown. Its script comes past the page's policy, as a browser's extension does. */
async function findings(page: Page): Promise<string[]> {
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const looks = [
  { name: 'in light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'in dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'at 390 pixels', colorScheme: 'light', viewport: { width: 390, height: 800 } },
  { name: 'at 390 pixels in dark', colorScheme: 'dark', viewport: { width: 390, height: 800 } },
] as const;

const PLACES = [
  'overview?period=30d',
  'payments',
  'payments?state=owed',
  'upstreams',
  'networks',
  'keys',
  'catalogue',
  'nowhere',
];

for (const { name, ...options } of looks) {
  t.test(`axe finds nothing ${name}, and no page scrolls sideways`, { skip: noBrowser }, async (t) => {
    const { page, gateway, complaints } = await openConsole(t, { ...options, bypassCSP: true, isSignedIn: false });
    await page.addInitScript(axe.source);
    await page.reload();
    const isFine = async (place: string): Promise<void> => {
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
      t.same(await findings(page), [], place);
      const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      t.equal(await page.evaluate(sideways), 0, `${place} is as wide as the screen`);
    };
    await page.getByLabel('Token').waitFor();
    await isFine('sign-in');
    await page.goto(`${gateway.url}/console#token=${gateway.token}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const place of PLACES) {
      await page.goto(`${gateway.url}/console#/${place}`);
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      await isFine(place);
    }
    await page.goto(`${gateway.url}/console#/payments?state=owed`);
    await page.locator('tbody a').first().click();
    await page.getByLabel('Reason').fill('not delivered');
    await isFine('a payment');
    await page.getByRole('button', { name: 'Give back…' }).click();
    await isFine('a refund');
    await page.goto(`${gateway.url}/console#/keys`);
    await page.getByRole('button', { name: 'New key…' }).click();
    await isFine('a new key');
    t.same(complaints, []);
  });
}
