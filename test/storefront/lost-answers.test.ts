/** A payment whose answer was lost, and what is said of it afterwards by the gateway or by what stands before it. */
import t from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';
import { purchaseOf, unheard } from './purchase-page.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const IMAGE = '/image/family-a-2-pro';

const DRAINING = { error: { code: 'draining', message: 'It shuts down at the moment' } };
const TOO_SLOW = { error: { code: 'request_timeout', message: 'The request did not come to its end in time' } };
const GONE = { error: { code: 'unknown_path', message: 'No endpoint is sold at this path' } };

for (const [what, { attempt, status, body }] of [
  ['the gateway is shutting down, after a lost answer', { attempt: 2, status: 503, body: DRAINING }],
  ['the repeat came too slowly, after a lost answer', { attempt: 2, status: 408, body: TOO_SLOW }],
  ['a proxy finds nothing, after a lost answer', { attempt: 2, status: 404, body: {} }],
  ['nothing is sold there any more, after a lost answer', { attempt: 2, status: 404, body: GONE }],
  ['a proxy forbids a payment that it has passed on', { attempt: 1, status: 403, body: {} }],
] as const) {
  t.test(`no second payment is offered where ${what}`, { skip: noBrowser }, async (t) => {
    const { page } = await openPage(t);
    const before = await gateway.earned('chain-c');
    await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' }));
    const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
    await pay.waitFor();
    let attempts = 0;
    await page.route(`${gateway.url}${IMAGE}`, async (route) => {
      if (!route.request().headers()['payment-signature']) return route.continue();
      attempts += 1;
      if (attempts > attempt) return route.continue();
      // The gateway has answered, and the browser never hears of it.
      if (attempts === 1) await route.fetch();
      return attempts === attempt ? route.fulfill({ status, json: body }) : route.abort('connectionreset');
    });
    await pay.click();
    const again = page.getByRole('button', { name: 'Ask again with the same payment' });
    if (attempt > 1) await again.click();
    await page.getByText(`Status ${status}`, { exact: true }).waitFor();
    await again.and(page.locator(':enabled')).waitFor();
    t.notOk(await pay.isVisible());
    await again.click();
    await page.getByRole('region', { name: 'What you bought' }).getByRole('img').waitFor();
    t.equal((await gateway.earned('chain-c')) - before, 50_000n, 'charged once');
  });
}

t.test(
  'a page that is loaded again in the middle of a payment has what it pays for',
  { skip: noBrowser },
  async (t) => {
    const { page, complaints } = await openPage(t);
    const before = await gateway.earned('chain-c');
    const address = purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' });
    await page.goto(address);
    const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
    const again = page.getByRole('button', { name: 'Ask again with the same payment' });
    const picture = page.getByRole('region', { name: 'What you bought' }).getByRole('img');
    await pay.waitFor();
    page.on('dialog', (dialog) => dialog.accept());
    const answered = unheard(page, `${gateway.url}${IMAGE}`);
    await pay.click();
    await answered;
    await page.reload();
    await again.waitFor();
    t.match(await page.getByRole('alert').textContent(), /whether you were charged is not known yet/);
    t.notOk(await pay.isVisible(), 'no second payment is offered');
    await again.click();
    await picture.waitFor();
    t.equal((await gateway.earned('chain-c')) - before, 50_000n, 'charged once');
    await page.reload();
    await pay.waitFor();
    t.notOk(await again.isVisible(), 'what was answered is not asked for again');
    t.same(complaints, []);
  },
);

t.test('who gives up a payment that brings no result can make another', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' }));
  const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
  await pay.waitFor();
  await page.route(`${gateway.url}${IMAGE}`, (route) =>
    route.request().headers()['payment-signature'] ? route.abort('connectionreset') : route.continue(),
  );
  await pay.click();
  const forget = page.getByRole('button', { name: 'Forget this payment' });
  await forget.click();
  await pay.waitFor();
  t.notOk(await page.getByRole('alert').isVisible());
  await page.reload();
  await pay.waitFor();
  t.notOk(await forget.isVisible());
});

t.test('a payment that is kept is asked for again also where no price can be asked', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse in fog' }));
  const again = page.getByRole('button', { name: 'Ask again with the same payment' });
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).waitFor();
  await page.route(`${gateway.url}${IMAGE}`, (route) =>
    route.request().headers()['payment-signature'] ? route.abort('connectionreset') : route.continue(),
  );
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
  await again.and(page.locator(':enabled')).waitFor();
  await page.unrouteAll();
  await page.route(`${gateway.url}${IMAGE}`, (route) =>
    route.request().headers()['payment-signature'] ? route.continue() : route.abort('connectionreset'),
  );
  await page.reload();
  await page.getByText('The gateway cannot be reached').waitFor();
  await again.click();
  await page.getByRole('region', { name: 'What you bought' }).getByRole('img').waitFor();
});
