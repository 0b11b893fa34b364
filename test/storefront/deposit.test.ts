/** Paying from a deposit in a browser: what is signed, what it costs, and how the rest comes back. */
import type { Page, Request } from 'playwright-core';
import t, { type Test } from 'tap';
import type { DepositStore } from '../../src/client/index.ts';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { openClient } from '../client/any-client.ts';
import { fund } from '../fund.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { type InjectedWallet, injectEvmWallet, signingWallet } from './injected-wallets.ts';
import { purchaseOf, unheard } from './purchase-page.ts';

const gateway = await startGateway({
  catalogue: picturesWith(t, '{ channels: true }', 'image/family-a-2-pro'),
  networks: ['chain-c'],
});
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const IMAGE = '/image/family-a-2-pro';
const PRICE = 50_000n;
const DEPOSIT = 500_000n;
const FIRST = 'Deposit 0.50 USDC on Chain C and pay 0.05 of it';
const LATER = 'Pay 0.05 USDC from your deposit on Chain C';
const CHOICE = 'Chain C, USDC, from a deposit';

interface Sent {
  readonly payload: { readonly type: string; readonly voucher: { readonly maxClaimableAmount: string } };
}

const decoded = (header: string) => JSON.parse(Buffer.from(header, 'base64').toString());
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

function paymentsOf(page: Page): Sent[] {
  const sent: Sent[] = [];
  page.on('request', (request: Request) => {
    const payment = request.headers()['payment-signature'];
    if (payment !== undefined) sent.push(decoded(payment));
  });
  return sent;
}

const signatures = ({ asked }: InjectedWallet): number =>
  asked.filter((method) => method === 'eth_signTypedData_v4').length;

/** A page, and a wallet with ten dollars of its own. */
async function open(t: Test) {
  const { account, address, answer } = signingWallet(gateway);
  await fund(gateway, 'chain-c', address, 10_000_000n);
  const { page, complaints } = await openPage(t);
  const wallet = await injectEvmWallet(page, 'Own wallet', answer);
  return { page, complaints, wallet, account, answer, holds: () => gateway.sandbox.balance('chain-c', address) };
}

async function visit(page: Page, prompt: string): Promise<void> {
  await page.goto(purchaseOf(gateway, IMAGE, { prompt }));
  await page.getByLabel('Own wallet').check();
  await page.getByLabel('Network').selectOption({ label: CHOICE });
}

const picture = (page: Page) => page.getByRole('region', { name: 'What you bought' }).getByRole('img');

async function buy(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await picture(page).waitFor();
}

t.test(
  'one deposit and a voucher for each call, over a reload, and the rest comes back',
  { skip: noBrowser },
  async (t) => {
    const { page, complaints, wallet, holds } = await open(t);
    const payments = paymentsOf(page);
    const [before, income] = [await holds(), await gateway.earned('chain-c')];
    const { settlementCount } = await gateway.calls();
    await visit(page, 'a lighthouse in fog');
    const deposit = page.getByRole('region', { name: 'Your deposit' });
    t.match(await deposit.textContent(), /0\.50 USDC go into a contract on Chain C.*Your wallet asks twice/);
    t.match(await deposit.textContent(), /24 hours after asking there/);
    await buy(page, FIRST);
    t.equal(signatures(wallet), 2, 'the deposit and the call');
    t.equal(before - (await holds()), DEPOSIT, 'as much as the button said');
    await deposit.getByText('0.45 USDC').waitFor();

    await page.getByLabel('prompt').fill('a lighthouse in rain');
    await page.getByRole('button', { name: LATER }).click();
    await deposit.getByText('0.40 USDC').waitFor();
    t.equal(signatures(wallet), 3, 'one for a later call');

    await visit(page, 'a lighthouse in snow');
    await deposit.getByText('0.40 USDC').waitFor();
    await buy(page, LATER);
    await deposit.getByText('0.35 USDC').waitFor();
    t.same(
      payments.map(({ payload }) => [payload.type, BigInt(payload.voucher.maxClaimableAmount) / PRICE]),
      [
        ['deposit', 1n],
        ['voucher', 2n],
        ['voucher', 3n],
      ],
    );
    t.equal(before - (await holds()), DEPOSIT, 'no other deposit');
    t.equal((await gateway.calls()).settlementCount - settlementCount, 1, 'and no other transaction');
    t.notMatch(await page.content(), /"signature"|payment-signature/, 'no signature is shown');

    await deposit.getByRole('button', { name: 'Take it back' }).click();
    t.match(await page.getByRole('alert').textContent(), /^0\.35 USDC came back, by the transaction 0x[0-9a-f]{64}\.$/);
    await page.getByRole('button', { name: FIRST }).waitFor();
    t.equal(before - (await holds()), 3n * PRICE, 'three calls were paid for');
    t.equal((await gateway.earned('chain-c')) - income, 3n * PRICE);
    t.same(complaints, []);
  },
);

const alert = (page: Page) => page.getByRole('alert');

/** What the page is told in place of a challenge's offer from deposits; everything else as it is. */
async function withOffers(page: Page, change: (offer: Offered) => object[]): Promise<void> {
  await page.route(`${gateway.url}${IMAGE}`, async (route) => {
    const response = await route.fetch();
    const required = decoded(response.headers()['payment-required'] ?? '');
    const accepts = required.accepts.flatMap((offer: Offered) =>
      offer.scheme === 'batch-settlement' ? change(offer) : [offer],
    );
    const headers = { ...response.headers(), 'payment-required': encoded({ ...required, accepts }) };
    await route.fulfill({ response, headers });
  });
}

interface Offered {
  readonly scheme: string;
  readonly extra: object;
}

const terms =
  (others: object) =>
  (offer: Offered): object => ({ ...offer, extra: { ...offer.extra, ...others } });

t.test(
  'terms by which nobody could claim, or money is away for long, are not offered',
  { skip: noBrowser },
  async (t) => {
    const { page } = await open(t);
    const sound = terms({ minDeposit: '700000' });
    for (const [what, others] of [
      ['a month until it is back', { withdrawDelay: 2_592_000 }],
      ['nobody who claims', { receiverAuthorizer: `0x${'0'.repeat(40)}` }],
      ['a claimer that is no address', { receiverAuthorizer: 'me' }],
      ['Permit2', { assetTransferMethod: 'permit2' }],
    ] as const) {
      await page.unroute(`${gateway.url}${IMAGE}`);
      await withOffers(page, (offer) => [terms(others)(offer), sound(offer)]);
      await visit(page, 'a lighthouse');
      const pay = page.getByRole('button', { name: /^Deposit/ });
      t.equal(await pay.textContent(), 'Deposit 0.70 USDC on Chain C and pay 0.05 of it', what);
      t.equal(await page.getByLabel('Network').getByText(CHOICE).count(), 1, what);
    }
  },
);

t.test('a browser that cannot keep tabs apart is not offered a deposit', { skip: noBrowser }, async (t) => {
  const { page } = await open(t);
  await page.addInitScript('delete Navigator.prototype.locks');
  await page.goto(purchaseOf(gateway, IMAGE, { prompt: 'a lighthouse' }));
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).waitFor();
  t.same(await page.getByLabel('Network').locator('option').allTextContents(), ['Chain C, USDC']);
});

t.test('terms that change after they were shown are shown, and not signed', { skip: noBrowser }, async (t) => {
  const { page, wallet } = await open(t);
  const payments = paymentsOf(page);
  for (const [others, button] of [
    [{ receiverAuthorizer: `0x${'5'.repeat(40)}` }, FIRST],
    [{ minDeposit: '9000000' }, 'Deposit 9 USDC on Chain C and pay 0.05 of it'],
    [{ withdrawDelay: 43_200 }, FIRST],
  ] as const) {
    await page.unroute(`${gateway.url}${IMAGE}`);
    await visit(page, 'a lighthouse');
    const first = page.getByRole('button', { name: FIRST });
    await first.waitFor();
    await withOffers(page, (offer) => [terms(others)(offer)]);
    await first.click();
    t.match(await alert(page).textContent(), /price has changed, so nothing was signed/);
    await page.getByRole('button', { name: button }).waitFor();
  }
  t.equal(signatures(wallet), 0);
  t.same(payments, []);
});

t.test('whoever refuses the second signature has deposited nothing', { skip: noBrowser }, async (t) => {
  const { page, answer, holds } = await open(t);
  const other = await page.context().newPage();
  const payments = paymentsOf(other);
  const before = await holds();
  let asked = 0;
  await injectEvmWallet(other, 'Own wallet', async (method, params) => {
    if (method === 'eth_signTypedData_v4') asked += 1;
    if (method === 'eth_signTypedData_v4' && asked === 2) return { error: { code: 4001, message: 'User rejected' } };
    return answer(method, params);
  });
  await visit(other, 'a lighthouse');
  await other.getByRole('button', { name: FIRST }).click();
  t.match(await alert(other).textContent(), /was refused/);
  t.same(payments, []);
  await other.getByRole('button', { name: FIRST }).waitFor();
  t.equal(before, await holds());
  await buy(other, FIRST);
  t.equal(before - (await holds()), DEPOSIT);
});

t.test('a second tab waits for the payment of the first, and goes on from there', { skip: noBrowser }, async (t) => {
  const { page, wallet, answer, holds } = await open(t);
  const before = await holds();
  await visit(page, 'a lighthouse in fog');
  await page.getByRole('button', { name: FIRST }).waitFor();
  let isLost = true;
  await page.route(`${gateway.url}${IMAGE}`, async (route) => {
    if (!isLost || !route.request().headers()['payment-signature']) return route.continue();
    isLost = false;
    // The gateway has answered, and the browser never hears of it.
    await route.fetch();
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: FIRST }).click();
  const again = page.getByRole('button', { name: 'Ask again with the same payment' });
  await again.waitFor();

  const other = await page.context().newPage();
  const second = await injectEvmWallet(other, 'Own wallet', answer);
  await visit(other, 'a lighthouse in rain');
  await other.getByRole('button', { name: /^Deposit|^Pay/ }).click();
  t.match(await alert(other).textContent(), /Another tab of this browser is paying from this deposit/);
  t.equal(signatures(second), 0);

  await again.click();
  await picture(page).waitFor();
  t.equal(signatures(wallet), 2, 'the very same payment');
  await buy(other, LATER);
  t.equal(signatures(second), 1);
  t.equal(before - (await holds()), DEPOSIT);
  for (const tab of [page, other]) {
    await tab.getByRole('region', { name: 'Your deposit' }).getByText('0.40 USDC').waitFor();
  }
});

/** Payments of a page do not reach the gateway from now on. */
const cutPayments = (page: Page) =>
  page.route(`${gateway.url}${IMAGE}`, (route) =>
    route.request().headers()['payment-signature'] ? route.abort('connectionreset') : route.continue(),
  );

t.test('a tab that ends before its deposit was taken leaves it to the next', { skip: noBrowser }, async (t) => {
  const { page, answer, holds } = await open(t);
  const before = await holds();
  await visit(page, 'a lighthouse in fog');
  await page.getByRole('button', { name: FIRST }).waitFor();
  await cutPayments(page);
  await page.getByRole('button', { name: FIRST }).click();
  await page.getByRole('button', { name: 'Ask again with the same payment' }).waitFor();
  t.equal(await holds(), before);
  await page.close();

  const other = await page.context().newPage();
  const wallet = await injectEvmWallet(other, 'Own wallet', answer);
  await visit(other, 'a lighthouse in rain');
  await buy(other, LATER);
  t.equal(
    signatures(wallet),
    2,
    'two vouchers, for the gateway says that the first was not charged; the deposit was signed before',
  );
  t.equal(before - (await holds()), DEPOSIT);
});

t.test('a tab that ends before its call was paid loses nothing', { skip: noBrowser }, async (t) => {
  const { page, answer } = await open(t);
  await visit(page, 'a lighthouse in fog');
  await buy(page, FIRST);
  await page.getByRole('button', { name: LATER }).waitFor();
  await cutPayments(page);
  await page.getByRole('button', { name: LATER }).click();
  await page.getByRole('button', { name: 'Ask again with the same payment' }).waitFor();
  await page.close();

  const other = await page.context().newPage();
  const payments = paymentsOf(other);
  await injectEvmWallet(other, 'Own wallet', answer);
  await visit(other, 'a lighthouse in rain');
  await buy(other, LATER);
  t.same(
    payments.map(({ payload }) => BigInt(payload.voucher.maxClaimableAmount) / PRICE),
    [3n, 2n],
    'what was not charged is not paid',
  );
  await other.getByRole('region', { name: 'Your deposit' }).getByText('0.40 USDC').waitFor();
});

t.test('what the last call of a deposit may not have cost is taken back as well', { skip: noBrowser }, async (t) => {
  const { page, account, holds } = await open(t);
  const before = await holds();
  let kept = '';
  const depositStore: DepositStore = {
    read: async () => kept || undefined,
    write: async (text) => {
      kept = text;
    },
  };
  let isCut = false;
  const client = openClient(gateway, {
    pay: { evm: account, network: 'chain-c', deposit: '0.5', depositStore },
    retries: 0,
    fetch: async (url, init) => {
      if (isCut && new Headers(init?.headers).has('payment-signature')) throw new Error('cut');
      return fetch(url, init);
    },
  });
  for (let call = 1; call <= 10; call += 1) {
    isCut = call === 10;
    const answer = await client.call(IMAGE, { prompt: `a lighthouse, number ${call}` });
    t.equal(answer.ok, !isCut);
  }
  const name = `turnpike-deposits ${account.address.toLowerCase()}`;
  await page.addInitScript(([key, text]) => localStorage.setItem(String(key), String(text)), [name, kept]);
  await visit(page, 'a lighthouse in fog');
  const deposit = page.getByRole('region', { name: 'Your deposit' });
  await deposit.getByText('0.05 USDC').waitFor();
  await deposit.getByRole('button', { name: 'Take it back' }).click();
  t.match(await page.getByRole('alert').textContent(), /^0\.05 USDC came back, by the transaction 0x[0-9a-f]{64}\.$/);
  t.equal(before - (await holds()), 9n * PRICE, 'nine calls were paid for');
});

/** What is said of a deposit that is asked back on a page that was loaded again. */
async function takenBack(page: Page): Promise<string | null> {
  await page.getByLabel('Own wallet').check();
  await page.getByLabel('Network').selectOption({ label: CHOICE });
  await page.getByRole('button', { name: 'Take it back' }).click();
  return await alert(page).textContent();
}

t.test('a call whose page is loaded again in the middle has what it is drawn for', { skip: noBrowser }, async (t) => {
  const { page, holds } = await open(t);
  const before = await holds();
  const payments = paymentsOf(page);
  await visit(page, 'a lighthouse in fog');
  page.on('dialog', (dialog) => dialog.accept());
  const answered = unheard(page, `${gateway.url}${IMAGE}`);
  await page.getByRole('button', { name: FIRST }).click();
  await answered;
  await page.reload();
  await page.getByRole('button', { name: 'Ask again with the same payment' }).click();
  await picture(page).waitFor();
  const [first, again] = payments;
  t.same(again, first);
  t.match(await takenBack(page), /^0\.45 USDC came back/);
  t.equal(before - (await holds()), PRICE, 'charged once');
});

t.test(
  'a page that is loaded again sends the voucher that took the place of another, and is charged once',
  { skip: noBrowser },
  async (t) => {
    const { page, holds } = await open(t);
    const before = await holds();
    await visit(page, 'a lighthouse in fog');
    await buy(page, FIRST);
    page.on('dialog', (dialog) => dialog.accept());
    const payments: unknown[] = [];
    const answered = new Promise<void>((resolve) => {
      void page.route(`${gateway.url}${IMAGE}`, async (route) => {
        const payment = route.request().headers()['payment-signature'];
        if (payment === undefined) return route.continue();
        payments.push(payment);
        // The first never arrives, so that the next is signed for too much; the one in its place is answered, unheard.
        if (payments.length === 1) return route.abort('connectionreset');
        if (payments.length !== 3) return route.continue();
        await route.fetch();
        resolve();
      });
    });
    await page.getByRole('button', { name: LATER }).click();
    await page.getByRole('button', { name: 'Forget this payment' }).click();
    await page.getByRole('button', { name: LATER }).click();
    await answered;
    await page.reload();
    await page.getByRole('button', { name: 'Ask again with the same payment' }).click();
    await picture(page).waitFor();
    t.equal(payments[3], payments[2]);
    t.match(await takenBack(page), /^0\.4 USDC came back/);
    t.equal(before - (await holds()), 2n * PRICE);
  },
);

t.test(
  'of a deposit whose way back was not heard of nobody says that it is not back',
  { skip: noBrowser },
  async (t) => {
    const { page, holds } = await open(t);
    const before = await holds();
    await visit(page, 'a lighthouse in fog');
    await buy(page, FIRST);
    await page.route(
      `${gateway.url}/v1/channels`,
      async (route) => {
        if (!route.request().headers()['payment-signature']) return route.fallback();
        // The gateway has answered, and the browser never hears of it.
        await route.fetch();
        await route.abort('connectionreset');
      },
      { times: 2 },
    );
    const takeBack = page.getByRole('button', { name: 'Take it back' });
    await takeBack.click();
    t.match(await alert(page).textContent(), /^The gateway has not said that anything came back: .*ask again/);
    t.equal(before - (await holds()), PRICE, 'it did');
    await takeBack.click();
    t.match(
      await alert(page).textContent(),
      /^The gateway has not said that .*nothing is there: it came back before, or /,
    );
  },
);

t.test('a gateway that says the deposit is gone gets no other than the button says', { skip: noBrowser }, async (t) => {
  const { page, wallet, holds } = await open(t);
  const before = await holds();
  await visit(page, 'a lighthouse in fog');
  await buy(page, FIRST);
  await page.getByRole('button', { name: LATER }).waitFor();
  await page.route(`${gateway.url}${IMAGE}`, async (route) => {
    const payment = route.request().headers()['payment-signature'];
    if (payment === undefined) return route.continue();
    const { payload, accepted } = decoded(payment);
    const { channelId } = payload.voucher;
    const channelState = { channelId, balance: '0', totalClaimed: '0', chargedCumulativeAmount: '0' };
    const error = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
    const accepts = [{ ...accepted, extra: { ...accepted.extra, channelState } }];
    const header = encoded({ x402Version: 2, error, resource: { url: 'x' }, accepts });
    await route.fulfill({ status: 402, headers: { 'payment-required': header }, body: '{}' });
  });
  await page.getByRole('button', { name: LATER }).click();
  t.match(await alert(page).textContent(), /the deposit holds less/);
  t.equal(signatures(wallet), 3, 'no deposit was asked for');
  await page.getByRole('button', { name: FIRST }).waitFor();
  t.equal(before - (await holds()), DEPOSIT);
});
