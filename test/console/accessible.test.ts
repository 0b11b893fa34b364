/** Every page of the console, in each theme and on a phone, as axe and a narrow screen see it. */
import t from 'tap';
import { lookedAt, looks, noBrowser, stopBrowser } from '../browser.ts';
import { openConsole } from './browser.ts';

t.teardown(stopBrowser);

/** As long as its kind: a network, a token, a payer and a nonce. */
const GONE = `eip3009:eip155:8453:0x${'a'.repeat(40)}:0x${'b'.repeat(40)}:0x${'c'.repeat(64)}`;

const sidewaysIn = ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
  scrollWidth - clientWidth;

const PLACES = [
  'overview?period=30d',
  'payments',
  'payments?state=owed',
  `payments/${encodeURIComponent(GONE)}`,
  'upstreams',
  'networks',
  'keys',
  'catalogue',
  'nowhere',
];

for (const { name, ...options } of looks) {
  t.test(`axe finds nothing ${name}, and no page scrolls sideways`, { skip: noBrowser }, async (t) => {
    const { page, gateway, complaints } = await openConsole(t, { ...options, isSignedIn: false });
    const isFine = async (place: string): Promise<void> => {
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
      const { findings, sideways } = await lookedAt(page);
      t.same(findings, [], place);
      t.equal(sideways, 0, `${place} is as wide as the screen`);
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
    await page.getByLabel('Reason').fill(`not delivered: ${GONE}`);
    await isFine('a payment');
    await page.getByRole('button', { name: 'Give back…' }).click();
    await isFine('a refund');
    t.equal(await page.locator('dialog').evaluate(sidewaysIn), 0, 'all that is asked can be read without scrolling');
    await page.goto(`${gateway.url}/console#/keys`);
    await page.getByRole('button', { name: 'New key…' }).click();
    await isFine('a new key');
    t.same(complaints, []);
  });
}
