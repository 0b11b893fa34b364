/** Promises of the console's page, each kept on a page of its own, and what operators do on it. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, stopBrowser } from '../browser.ts';
import { type OpenConsole, openConsole } from './browser.ts';

/** Nothing in it may break the content security policy or fail in a script. */
export const promise = (
  words: string,
  keep: (t: Test, console: OpenConsole) => Promise<void>,
  isSignedIn = true,
): void => {
  t.teardown(stopBrowser);
  t.test(words, { skip: noBrowser }, async (t) => {
    const console = await openConsole(t, { isSignedIn });
    await keep(t, console);
    t.same(console.complaints, [], 'the browser complains of nothing');
  });
};

const whatIsRead = (page: Page) => page.locator('.loaded[aria-busy=false]');

/** What is asked for is shown. */
export const isRead = (page: Page): Promise<void> => whatIsRead(page).waitFor();

export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await isRead(page);
}

export const rowsOf = (page: Page, table: string | RegExp) =>
  page.getByRole('table', { name: table }).locator('tbody tr');

/** Opens the newest payment in a state. */
export async function openPayment(page: Page, state: string): Promise<void> {
  await goTo(page, 'Payments');
  await page.getByLabel('State').selectOption({ label: state });
  // Until the answer comes, the table still has the rows of the question before.
  await whatIsRead(page).getByRole('table', { name: 'Payments that match' }).locator('tbody a').first().click();
  await page.getByRole('heading', { name: 'Payment', level: 1, exact: true }).waitFor();
  await isRead(page);
}
