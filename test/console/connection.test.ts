/** The console while its gateway, its session or who looks at it come and go. In a real browser. */
import { goTo, promise, rowsOf } from './promise.ts';

promise('a lost connection is told, and what was read stays until there is one again', async (t, { page, gateway }) => {
  await page.clock.install();
  await goTo(page, 'Upstreams');
  gateway.mood.isSilent = true;
  await page.clock.runFor(16_000);
  t.match(await page.getByRole('alert').textContent(), /No connection.*What is shown is from/s);
  t.ok(await rowsOf(page, /Exchanges/).count());
  gateway.mood.isSilent = false;
  await page.clock.runFor(6_000);
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

promise(
  'a gateway that was away when the page opened is found again',
  async (_t, { page, gateway }) => {
    await page.clock.install();
    await page.getByLabel('Token').fill(gateway.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.loaded').waitFor();
    await page.route('**/console/api/**', (route) => route.abort());
    await page.reload();
    await page.getByText('No connection to the gateway').waitFor();
    await page.unroute('**/console/api/**');
    await page.clock.runFor(6_000);
    await page.locator('.loaded').waitFor();
  },
  false,
);

promise(
  'who could not be signed out is told so, and is once there is a connection again',
  async (t, { page, gateway }) => {
    const signOut = page.getByRole('button', { name: 'Sign out' });
    await goTo(page, 'Keys');
    gateway.mood.isSilent = true;
    await signOut.click();
    await page.getByText('You are still signed in').waitFor();
    gateway.mood.isSilent = false;
    await signOut.click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
    t.notOk(await signOut.isVisible());
  },
);

promise('nothing is asked while nobody looks, and at once when somebody does', async (t, { page }) => {
  await page.clock.install();
  await goTo(page, 'Upstreams');
  await page.getByRole('table').waitFor();
  const look = (state: 'hidden' | 'visible') =>
    page.evaluate(
      `Object.defineProperties(document, { hidden: { value: ${state === 'hidden'}, configurable: true } });
       document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await look('hidden');
  let asked = 0;
  page.on('request', () => {
    asked += 1;
  });
  await page.clock.runFor(60_000);
  t.equal(asked, 0);
  const answered = page.waitForResponse(/\/upstreams/);
  await look('visible');
  await answered;
  t.equal(asked, 1);
});

promise('an empty shop says what to do', async (_t, { page, gateway }) => {
  gateway.mood.isEmpty = true;
  await goTo(page, 'Payments');
  await page.getByText('Nobody has paid yet.').waitFor();
  await goTo(page, 'Keys');
  await page.getByText('There is no key yet.').waitFor();
  await goTo(page, 'Overview');
  await page.getByText('Nothing was called in this period.').first().waitFor();
});

promise('a session that ended asks for the token again', async (_t, { page }) => {
  await page.context().clearCookies();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Networks' }).click();
  await page.getByLabel('Token').waitFor();
});
