/** What operators see in the console, in a real browser. */
import { readFile } from 'node:fs/promises';
import type { Page, Response } from 'playwright-core';
import { comesTrue } from '../browser.ts';
import { goTo, isRead, openPayment, promise, rowsOf } from './promise.ts';

promise(
  'who gives the token is signed in, stays so, and is not when signed out',
  async (t, { page, gateway }) => {
    await page.getByLabel('Token').fill(gateway.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    t.notOk(await page.getByText('Revenue').count(), 'no figure is left');
  },
  false,
);

promise(
  'a wrong token is told from a right one, with where that is found',
  async (t, { page }) => {
    await page.getByLabel('Token').fill('a guess');
    await page.getByRole('button', { name: 'Sign in' }).click();
    t.match(await page.getByRole('alert').textContent(), /not the token.*printed/s);
  },
  false,
);

promise('a token in the address signs in and leaves the address', async (t, { page, gateway }) => {
  t.notMatch(page.url(), gateway.token);
  await page.goBack();
  t.notMatch(page.url(), gateway.token, 'nor is it in the history');
  await page.goForward();
});

const DAY_MS = 86_400_000;

const boundsIn = (response: Response): { from: number; to: number } => {
  const { from, to } = Object.fromEntries(new URL(response.url()).searchParams);
  return { from: Number(from), to: Number(to) };
};

/** The first answer of another period than the last day, for which the page asks again and again. */
const otherPeriod = (page: Page): Promise<Response> =>
  page.waitForResponse((response) => {
    const { from, to } = boundsIn(response);
    return response.url().includes('/overview?') && to - from !== DAY_MS;
  });

promise('an address with names that are none is a page all the same', async (_, { page, gateway }) => {
  await page.goto(`${gateway.url}/console#/overview?period=constructor`);
  await page.reload();
  await page.getByRole('link', { name: '24 hours' }).and(page.locator('[aria-current]')).waitFor();
  await page.goto(`${gateway.url}/console#/constructor`);
  await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
  await comesTrue(page, "document.title.startsWith('Not found · ')");
});

promise('the overview shows the figures of the period that was chosen', async (t, { page }) => {
  const figure = (name: string) => page.locator('.figure', { has: page.getByText(name, { exact: true }) }).locator('b');
  await figure('Revenue').waitFor();
  for (const name of ['Revenue', 'Cost', 'Margin']) t.match(await figure(name).textContent(), /^\$[\d,]+\.\d\d/);
  const calls = await figure('Calls').textContent();
  await page.clock.setFixedTime(Date.now());
  const asked = otherPeriod(page);
  await page.getByRole('link', { name: '30 days' }).click();
  const { from, to } = boundsIn(await asked);
  t.equal(to - from, 30 * DAY_MS);
  await page.getByRole('img', { name: /last 30 days: revenue \$/ }).waitFor();
  t.not(await figure('Calls').textContent(), calls);
  await page.getByText('These charts as a table').click();
  t.ok((await rowsOf(page, 'Over time').count()) >= 30, 'the charts are a table as well');
});

promise('days that were chosen are whole days of UTC, the last one with them', async (t, { page }) => {
  await page.clock.setFixedTime(Date.now());
  await page.getByRole('button', { name: 'Days' }).click();
  await page.getByLabel('From').fill('2026-11-02');
  await page.getByLabel('to', { exact: true }).fill('2026-11-03');
  const asked = otherPeriod(page);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  const { from, to } = boundsIn(await asked);
  t.same([from, to], [Date.UTC(2026, 10, 2), Date.UTC(2026, 10, 4)]);
});

promise('what needs attention leads to the payments it is about', async (t, { page }) => {
  await page.getByRole('link', { name: 'See who is owed' }).click();
  const states = rowsOf(page, 'Payments that match').locator('td:nth-child(2)');
  await states.first().waitFor();
  t.same([...new Set(await states.allTextContents())], ['Result owed']);
});

promise('a table is sorted by the column that is clicked, and back', async (t, { page }) => {
  const calls = rowsOf(page, 'Endpoints').locator('td:nth-child(6)');
  const shown = async () => (await calls.allTextContents()).map((text) => Number(text.replaceAll(',', '')));
  await page.getByRole('table', { name: 'Endpoints' }).getByRole('button', { name: 'Calls' }).click();
  t.same(
    await shown(),
    (await shown()).sort((one, other) => other - one),
  );
  await page.getByRole('table', { name: 'Endpoints' }).getByRole('button', { name: 'Calls' }).click();
  t.same(
    await shown(),
    (await shown()).sort((one, other) => one - other),
  );
});

promise('payments are filtered, paged through, and gone back through', async (t, { page }) => {
  await goTo(page, 'Payments');
  t.equal(await rowsOf(page, 'Newest payments').count(), 50);
  const newest = await rowsOf(page, 'Newest payments').first().textContent();
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByRole('table', { name: 'Older payments' }).waitFor();
  await isRead(page);
  t.not(await rowsOf(page, 'Older payments').first().textContent(), newest);
  await page.goBack();
  await page.getByRole('table', { name: 'Newest payments' }).waitFor();

  await page.getByLabel('Endpoint').fill('shop/search');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('table', { name: 'Payments that match' }).waitFor();
  await isRead(page);
  const endpoints = await rowsOf(page, 'Payments that match').locator('td:nth-child(3)').allTextContents();
  t.same([...new Set(endpoints)], ['shop/search']);
  await page.getByLabel('Payer').fill('nobody');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('No payment matches.').waitFor();
  await page.getByRole('link', { name: 'show all payments' }).click();
  await page.getByRole('table', { name: 'Newest payments' }).waitFor();
});

promise('a payment shows what happened and copies its transaction', async (t, { page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPayment(page, 'Paid');
  const steps = await page.locator('.moments .step b').allTextContents();
  t.same(steps.slice(0, 3), ['Told the price', 'Payment checked', 'Payment claimed']);
  t.same(steps.slice(-2), ['Payment settled', 'Answered']);
  // It says so for a while alone.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole('button', { name: 'Copy: transaction' }).click();
  await page.getByRole('button', { name: 'Copied: transaction' }).waitFor();
  t.match(await page.evaluate('navigator.clipboard.readText()'), /^0x[0-9a-f]{64}$/);
});

promise('a file of a table holds what is shown, and no formula', async (t, { page }) => {
  await goTo(page, 'Payments');
  await page.getByLabel('State').selectOption({ label: 'Not charged' });
  await page.getByRole('table', { name: 'Payments that match' }).waitFor();
  await isRead(page);
  const rows = await rowsOf(page, 'Payments that match').count();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^CSV/ }).click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'payments.csv');
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
  t.equal(lines.length, rows + 1);
  t.match(lines[1], `"'=HYPERLINK(""https://example.com"",""look"")"`);
});

promise('all of it can be reached and done by keyboard', async (t, { page }) => {
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'content', 'the bar can be skipped');
  await goTo(page, 'Keys');
  await page.getByRole('button', { name: 'New key…' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  t.equal(await page.evaluate("document.activeElement.closest('dialog') !== null"), true, 'the dialog has the focus');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal(await page.evaluate('document.activeElement.textContent'), 'New key…', 'and gives it back');
});
