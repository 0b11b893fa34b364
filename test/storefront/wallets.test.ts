/** Paying in a browser with wallets that are there already, and what happens when one of the two does not play along. */
import type { Page, Request } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { fund } from '../fund.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { injectEvmWallet, injectSolanaWallet, signingWallet } from './injected-wallets.ts';
import { purchaseOf } from './purchase-page.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const IMAGE = '/image/family-a-2-pro';
const PROMPT = { prompt: 'a lighthouse in fog' };
const PRICE = 50_000n;

const picture = (page: Page) => page.getByRole('region', { name: 'What you bought' }).getByRole('img');

/** The payments that a page sent, as they were. */
function paymentsOf(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request: Request) => {
    const payment = request.headers()['payment-signature'];
    if (payment !== undefined) sent.push(payment);
  });
  return sent;
}

t.test('a wallet found by EIP-6963 pays on the network to which it is switched', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-c', 'chain-e'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  const { address, answer } = signingWallet(gateway);
  await fund(gateway, 'chain-e', address, 1_000_000n);
  const wallet = await injectEvmWallet(page, 'Own wallet', answer);
  const before = await gateway.earned('chain-e');
  await page.goto(purchaseOf(gateway, `/chain-e${IMAGE}`, PROMPT));
  await page.getByLabel('Own wallet').check();
  const pay = page.getByRole('button', { name: /^Pay 0\.\d+ USDT0 on Chain E$/ });
  t.equal(await pay.isDisabled(), true, 'what is signed here would be good on the live network, too');
  await page.getByLabel('This account has no real money').check();
  await pay.click();
  await picture(page).waitFor();
  const paid = (await gateway.earned('chain-e')) - before;
  t.ok(paid > 0n, 'the payee has it');
  t.equal(await gateway.sandbox.balance('chain-e', address), 1_000_000n - paid, 'from the account of the wallet');
  t.ok(
    wallet.asked.indexOf('wallet_switchEthereumChain') < wallet.asked.indexOf('eth_signTypedData_v4'),
    'it was switched first',
  );
  t.same(complaints, []);
});

t.test('what is ticked of one account counts for no other', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-e'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  const { answer } = signingWallet(gateway);
  const other = signingWallet(gateway).address;
  let isOther = false;
  await injectEvmWallet(page, 'Own wallet', async (method, params) =>
    isOther && method === 'eth_accounts' ? { result: [other] } : answer(method, params),
  );
  await page.goto(purchaseOf(gateway, `/chain-e${IMAGE}`, PROMPT));
  await page.getByLabel('Own wallet').check();
  const pay = page.getByRole('button', { name: /^Pay 0\.\d+ USDT0 on Chain E$/ });
  const isPlay = page.getByLabel('This account has no real money');
  await isPlay.check();
  t.equal(await pay.isDisabled(), false);
  // Its owner chooses another account in the wallet.
  isOther = true;
  await page.evaluate("dispatchEvent(new Event('test-wallet-changed'))");
  await page.locator(`[title="${other}"]`).waitFor();
  t.equal(await isPlay.isChecked(), false, 'nothing was said of this account');
  t.equal(await pay.isDisabled(), true);
  await page.getByLabel('Sandbox wallet').check();
  t.equal(await pay.isDisabled(), false);
  t.same(complaints, []);
});

t.test('a wallet found by the Wallet Standard pays on Solana', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-a'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  const wallet = await injectSolanaWallet(page, 'Own Solana wallet', gateway.state.solana?.secretKey ?? '');
  const before = await gateway.earned('chain-a');
  await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
  await page.getByLabel('Own Solana wallet').check();
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain A' }).click();
  await picture(page).waitFor();
  t.equal((await gateway.earned('chain-a')) - before, PRICE);
  t.same(wallet.asked, ['signTransaction'], 'signed once');
  t.same(complaints, []);
});

t.test('a wallet without a picture keeps nobody from paying with another', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.addInitScript(`{
    const provider = { request: async () => [], on() {}, removeListener() {} };
    const info = { uuid: '0b6b5f2e-6f0c-4d4b-8f0a-6a1c7d1f2a33', name: 'Bare wallet', rdns: 'bare.wallet' };
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
    addEventListener('eip6963:requestProvider', announce);
  }`);
  await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
  await page.getByLabel('Bare wallet').waitFor();
  await page.getByLabel('Sandbox wallet').check();
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
  await picture(page).waitFor();
  t.same(complaints, []);
});

t.test('a wallet that switches no networks pays on the one that it is on', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  const { address, answer } = signingWallet(gateway);
  await fund(gateway, 'chain-c', address, PRICE);
  const before = await gateway.earned('chain-c');
  await injectEvmWallet(page, 'Own wallet', async (method, params) => {
    if (method === 'eth_chainId') return { result: '0x14a34' };
    if (method === 'wallet_switchEthereumChain') return { error: { code: 4200, message: 'not supported' } };
    return answer(method, params);
  });
  await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
  await page.getByLabel('Own wallet').check();
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
  await picture(page).waitFor();
  t.equal((await gateway.earned('chain-c')) - before, PRICE);
  t.same(complaints, []);
});

t.test('whatever keeps a wallet from signing is said in words, and nothing is sent', { skip: noBrowser }, async (t) => {
  const { settlementCount } = await gateway.calls();
  const reasons = [
    { method: 'eth_signTypedData_v4', error: { code: 4001, message: 'User rejected' }, said: /was refused/ },
    { method: 'eth_requestAccounts', error: { code: -32002, message: 'Pending' }, said: /still waiting/ },
    {
      method: 'wallet_switchEthereumChain',
      error: { code: 4902, message: '?' },
      said: /add the network with chain id 84532/,
    },
    {
      method: 'wallet_switchEthereumChain',
      error: { code: -32603, message: 'Internal error', data: { originalError: { code: 4902, message: '?' } } },
      said: /add the network with chain id 84532/,
    },
    {
      method: 'eth_signTypedData_v4',
      error: { code: -32603, message: 'Internal error', data: { originalError: { code: 4001 } } },
      said: /was refused/,
    },
  ];
  for (const { method, error, said } of reasons) {
    const { page, complaints } = await openPage(t);
    const payments = paymentsOf(page);
    const { answer } = signingWallet(gateway);
    await injectEvmWallet(page, 'Own wallet', (asked, params) =>
      asked === method ? Promise.resolve({ error }) : answer(asked, params),
    );
    await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
    await page.getByLabel('Own wallet').check();
    await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
    t.match(await page.getByRole('alert').textContent(), said, method);
    t.ok(await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).isEnabled(), 'it can be tried again');
    t.same(payments, [], 'nothing was sent');
    t.same(complaints, []);
  }
  t.equal((await gateway.calls()).settlementCount, settlementCount);
});

t.test('a price that has changed since it was shown is shown, and not signed', { skip: noBrowser }, async (t) => {
  const STRANGER = `0x${'5'.repeat(40)}`;
  const changes = [
    { change: { amount: '80000' }, button: 'Pay 0.08 USDC on Chain C' },
    { change: { payTo: STRANGER }, button: 'Pay 0.05 USDC on Chain C' },
  ];
  for (const { change, button } of changes) {
    const { page } = await openPage(t);
    const payments = paymentsOf(page);
    const { answer } = signingWallet(gateway);
    const wallet = await injectEvmWallet(page, 'Own wallet', answer);
    await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
    await page.getByLabel('Own wallet').check();
    const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
    await pay.waitFor();
    await page.route(`${gateway.url}${IMAGE}`, async (route) => {
      const response = await route.fetch();
      const required = JSON.parse(Buffer.from(response.headers()['payment-required'] ?? '', 'base64').toString());
      required.accepts = required.accepts.map((offer: object) => ({ ...offer, ...change }));
      const header = Buffer.from(JSON.stringify(required)).toString('base64');
      await route.fulfill({ response, headers: { ...response.headers(), 'payment-required': header } });
    });
    await pay.click();
    t.match(await page.getByRole('alert').textContent(), /price has changed, so nothing was signed/);
    await page.getByRole('button', { name: button }).waitFor();
    t.notOk(wallet.asked.includes('eth_signTypedData_v4'), 'the wallet was not asked to sign');
    t.same(payments, []);
  }
});

t.test('a lost answer is had by asking again with the same payment, for one price', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  const payments = paymentsOf(page);
  const before = await gateway.earned('chain-c');
  await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
  const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
  await pay.waitFor();
  let isLost = true;
  await page.route(`${gateway.url}${IMAGE}`, async (route) => {
    if (!isLost || !route.request().headers()['payment-signature']) return route.continue();
    isLost = false;
    // The gateway has answered, and the browser never hears of it.
    await route.fetch();
    await route.abort('connectionreset');
  });
  await pay.click();
  const again = page.getByRole('button', { name: 'Ask again with the same payment' });
  await again.waitFor();
  t.notOk(await page.getByRole('button', { name: /^Pay/ }).isVisible(), 'no second payment is offered meanwhile');
  await again.click();
  await picture(page).waitFor();
  t.equal((await gateway.earned('chain-c')) - before, PRICE, 'charged once');
  t.equal(payments.length, 2);
  t.equal(payments[0], payments[1], 'the very same payment');
});

t.test('a settlement whose answer is lost to the gateway itself is asked for again', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  const payments = paymentsOf(page);
  const before = await gateway.earned('chain-c');
  await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
  await page.getByRole('button', { name: 'Ask again with the same payment' }).click();
  await picture(page).waitFor();
  t.equal((await gateway.earned('chain-c')) - before, PRICE, 'charged once');
  t.equal(new Set(payments).size, 1, 'one payment');
});

async function startHolding(t: Test) {
  const catalogue = picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }', 'image/family-a-2-pro');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  return gateway;
}

t.test(
  'money that an operator locks first is locked by the page, and taken with the picture',
  { skip: noBrowser },
  async (t) => {
    const gateway = await startHolding(t);
    const { page, complaints } = await openPage(t);
    const payments = paymentsOf(page);
    const before = await gateway.earned('chain-c');
    await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
    await page.getByText('locked until the answer is there').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' }).click();
    await picture(page).waitFor();
    t.equal((await gateway.earned('chain-c')) - before, PRICE);
    const { accepted } = JSON.parse(Buffer.from(payments[0] ?? '', 'base64').toString());
    t.equal(accepted.scheme, 'auth-capture');
    t.same(complaints, []);
  },
);

t.test(
  'who has back what was locked is told to pay again, and not to ask with what buys nothing any more',
  { skip: noBrowser },
  async (t) => {
    const gateway = await startHolding(t);
    const { page } = await openPage(t);
    const before = await gateway.earned('chain-c');
    await page.goto(purchaseOf(gateway, IMAGE, PROMPT));
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    const pay = page.getByRole('button', { name: 'Pay 0.05 USDC on Chain C' });
    await pay.click();
    t.match(await page.getByRole('alert').textContent(), /What was locked is given back/);
    t.equal(await page.getByRole('button', { name: 'Ask again with the same payment' }).count(), 0);
    await pay.click();
    await picture(page).waitFor();
    t.equal((await gateway.earned('chain-c')) - before, PRICE);
  },
);
