/** What operators do in the console: refunds, keys, the catalogue. In a real browser. */
import { goTo, openPayment, promise, rowsOf } from './promise.ts';

promise(
  'a refund needs a reason and a second look, and is sent once however often it is clicked',
  async (t, { page, gateway }) => {
    await openPayment(page, 'Result owed');
    const left = await page.getByLabel('Amount').inputValue();
    t.match(left, /^0\.\d+$/, 'what is left is filled in');
    await page.getByRole('button', { name: 'Give back…' }).click();
    t.equal(await page.getByRole('dialog').count(), 0, 'not without a reason');
    await page.getByLabel('Amount').fill('1000');
    await page.getByLabel('Reason').fill('not delivered');
    await page.getByRole('button', { name: 'Give back…' }).click();
    t.equal(await page.getByRole('dialog').count(), 0, 'not more than is left');
    await page.getByLabel('Amount').fill(left);
    await page.getByRole('button', { name: 'Give back…' }).click();
    const dialog = page.getByRole('dialog');
    t.match(await dialog.textContent(), /0x[0-9a-fA-F]{40}/, 'who gets it is shown');
    t.match(await dialog.textContent(), `$${left}`);
    await page.keyboard.press('Escape');
    t.same(gateway.refunds, [], 'nothing is sent before it is confirmed');

    await page.getByRole('button', { name: 'Give back…' }).click();
    gateway.mood.slowMs = 300;
    await dialog.getByRole('button', { name: /^Give back/ }).dblclick();
    await page.getByText('will be sent to the payer').waitFor();
    t.match(gateway.refunds, [{ amount: left, reason: 'not delivered', state: 'owed' }], 'with what it was shown as');
    t.equal(gateway.refunds.length, 1);
    t.equal(await rowsOf(page, 'Refunds').count(), 1);
    t.equal(await page.getByRole('heading', { name: 'Give it back' }).count(), 0, 'nothing is left');
  },
);

promise('a refund that is refused says why', async (_t, { page }) => {
  await openPayment(page, 'Result owed');
  await page.getByLabel('Reason').fill('refuse this');
  await page.getByRole('button', { name: 'Give back…' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Give back/ })
    .click();
  await page.getByText('it can only be given back whole').waitFor();
});

promise('a refund whose answer is lost is no failure, and done once when sent again', async (t, { page, gateway }) => {
  await openPayment(page, 'Paid');
  const giveBack = async (reason: string) => {
    await page.getByLabel('Amount').fill('0.001');
    await page.getByLabel('Reason').fill(reason);
    await page.getByRole('button', { name: 'Give back…' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Give back/ })
      .click();
  };
  gateway.mood.isForgetful = true;
  await giveBack('too dark');
  await page.getByText('it may have happened all the same').waitFor();
  gateway.mood.isForgetful = false;
  await giveBack('too dark');
  await page.getByText('will be sent to the payer').waitFor();
  t.equal(await rowsOf(page, 'Refunds').count(), 1);
  await giveBack('dark as well');
  await rowsOf(page, 'Refunds').nth(1).waitFor();
  // A browser may send by itself again what it got no answer to.
  const references = gateway.refunds.map(({ reason, reference }) => `${reason}: ${reference}`);
  t.equal(new Set(references).size, 2, 'what is filled in anew is a refund of its own');
});

promise('the secret of a new key is shown once', async (t, { page }) => {
  await goTo(page, 'Keys');
  const before = await rowsOf(page, 'API keys').count();
  await page.getByRole('button', { name: 'New key…' }).click();
  await page.getByLabel('Label').fill('Acme');
  await page.getByLabel('Credits to start with').fill('10');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const secret = String(await page.locator('.secret code').textContent());
  t.ok(secret.length > 30);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  t.ok(await page.locator('.secret').isVisible(), 'it does not go by accident');
  await page.getByRole('button', { name: 'I have it' }).click();
  await rowsOf(page, 'API keys').nth(before).waitFor();
  t.notMatch(await page.content(), secret);
  await page.reload();
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  t.notMatch(await page.content(), secret);
});

promise('a key is topped up, limited and disabled', async (t, { page }) => {
  await goTo(page, 'Keys');
  const cells = rowsOf(page, 'API keys').filter({ hasText: 'Nightly jobs' });
  await page.getByRole('button', { name: 'Top up: Nightly jobs' }).click();
  await page.getByLabel('Credits').fill('2.50');
  await page.getByRole('button', { name: 'Add credits' }).click();
  await cells.getByText('$7.50').waitFor();
  await page.getByRole('button', { name: 'Limit: Nightly jobs' }).click();
  await page.getByLabel('Most that it may spend').fill('3');
  await page.getByRole('button', { name: 'Set the limit' }).click();
  await cells.getByText('$3.00').waitFor();
  await page.getByRole('button', { name: 'Disable: Nightly jobs' }).click();
  t.match(await page.getByRole('dialog').textContent(), 'cannot be enabled again');
  await page.getByRole('button', { name: 'Disable for good' }).click();
  await cells.getByText('Disabled').waitFor();
});

promise('a top-up whose answer is lost is done once when its form is sent again', async (t, { page, gateway }) => {
  await goTo(page, 'Keys');
  const cells = rowsOf(page, 'API keys').filter({ hasText: 'Nightly jobs' });
  await page.getByRole('button', { name: 'Top up: Nightly jobs' }).click();
  await page.getByLabel('Credits').fill('2.50');
  gateway.mood.isForgetful = true;
  await page.getByRole('button', { name: 'Add credits' }).click();
  await page.getByText('it may have happened all the same').waitFor();
  gateway.mood.isForgetful = false;
  await page.getByRole('dialog').getByText('It has $7.50 now').waitFor();
  await page.getByRole('button', { name: 'Add credits' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await cells.getByText('$7.50').waitFor();
  await page.getByRole('button', { name: 'Top up: Nightly jobs' }).click();
  await page.getByLabel('Credits').fill('1');
  await page.getByRole('button', { name: 'Add credits' }).click();
  await cells.getByText('$8.50').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0, 'a form that is opened anew adds more');
});

promise('the catalogue says what its files would change, and loads them when asked twice', async (t, { page }) => {
  await goTo(page, 'Catalogue');
  await page.getByRole('button', { name: 'Load the files…' }).click();
  const dialog = page.getByRole('dialog');
  t.match(await dialog.textContent(), 'price 0.10 -> 0.12');
  await dialog.getByRole('button', { name: 'Load' }).click();
  await page.getByText('The files are loaded').waitFor();
  await page.getByText('what the files say is what is sold').waitFor();
});

promise('files with problems cannot be loaded, and say where', async (t, { page, gateway }) => {
  gateway.mood.problems = ['catalogue/endpoints/image/oil.yaml:5:31: 0.07 is not quoted; write "0.07"'];
  await goTo(page, 'Catalogue');
  await page.getByText('oil.yaml:5:31').waitFor();
  t.equal(await page.getByRole('button', { name: 'Load the files…' }).count(), 0);
});
