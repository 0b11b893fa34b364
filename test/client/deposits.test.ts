/** Calls drawn from a deposit, by a gateway that is as it should be. */
import { mkdtempSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ClientOptions, DepositStore, Pay } from '../../src/client/index.ts';
import { channelId } from '../../src/payment/channels/channel.ts';
import { askForDeposit, CHANNELS_ON, openChannel, takeDeposit } from '../channels.ts';
import { fund } from '../fund.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { openClient } from './any-client.ts';
import { startCuttingRelay } from './cutting-relay.ts';

const PICTURE = '/image/family-e-2';
const PRICE = 60_000n;
let asked = 0;
const prompt = () => {
  asked += 1;
  return { prompt: `a lighthouse in fog, number ${asked}` };
};

const EXPOSURE = '{ channels: true }\nlimits: { payer: { wastedPerHour: 1000, wastedPerDay: 1000 } }';
/** Where instances that start now are paid to. */
let payTo: string | undefined;
const gateway = await startGateway({
  catalogue: picturesWith(t, EXPOSURE, 'llm/vendor3-5.6-terra'),
  networks: ['chain-c'],
  between: async (sandbox) => ({ payTo: (network) => payTo ?? sandbox.payTo(network) }),
});
t.teardown(gateway.stop);

const holds = () => gateway.spendable('chain-c');
const earned = () => gateway.earned('chain-c');
const open = (pay: Partial<Pay> = {}, options: Partial<ClientOptions> = {}) =>
  openClient(gateway, { ...options, pay: { network: 'chain-c', deposit: '1', ...pay } });
const payer = openChannel(gateway);
const { onChain } = payer;

interface Sent {
  readonly payload: { readonly type: string; readonly voucher: { readonly maxClaimableAmount: string } };
}
const vouchersIn = (payments: readonly string[]) =>
  payments.map((payment) => {
    const { payload }: Sent = JSON.parse(Buffer.from(payment, 'base64').toString());
    return BigInt(payload.voucher.maxClaimableAmount) / PRICE;
  });

t.test('ten calls are drawn from one deposit, and what is left comes back to the unit', async (t) => {
  const client = open();
  const [before, income, { settlementCount }] = [await holds(), await earned(), await gateway.calls()];
  const first = await client.call(PICTURE, prompt());
  t.match(first, {
    ok: true,
    paid: { price: '0.06', amount: '60000', network: 'chain-c' },
    receipt: { transaction: /^0x[0-9a-f]{64}$/, charged: '0.06' },
  });
  const [opened] = await client.deposits();
  t.match(opened, { network: 'chain-c', left: '0.54' });
  const [, chainId] = CHANNELS_ON.split(':');
  t.equal(opened && channelId(Number(chainId), opened.config), opened?.channel, 'what the contract asks its payer for');
  for (let call = 2; call <= 9; call += 1) {
    const answer = await client.call(PICTURE, prompt());
    t.match(answer, { ok: true, receipt: { transaction: opened?.channel, charged: '0.06' } });
  }
  t.equal(before - (await holds()), 600_000n, 'one deposit');
  t.equal((await gateway.calls()).settlementCount, settlementCount + 1, 'and no other transaction');
  t.same(client.spending, { spent: '0.54', left: '9.46' });
  t.match(await client.refund(), [{ ok: true, network: 'chain-c', amount: '0.06', transaction: /^0x[0-9a-f]{64}$/ }]);
  t.equal(before - (await holds()), 540_000n);
  t.equal((await earned()) - income, 540_000n);
  t.same(await onChain(opened?.channel ?? ''), { balance: 540_000n, totalClaimed: 540_000n });
  t.match(await client.deposits(), [{ left: '0' }]);
  t.same(await client.refund(), [], 'nothing is left to ask for');

  t.match(await client.call(PICTURE, prompt()), { ok: true }, 'it is filled again');
  t.equal(before - (await holds()), 1_140_000n);
  t.match(await client.deposits(), [{ channel: opened?.channel, left: '0.54' }]);
  t.match(await client.refund(), [{ ok: true, amount: '0.54' }]);
});

t.test('what is used up is filled again, and no more lies there than may', async (t) => {
  const client = open({ deposit: '0.65' });
  const before = await holds();
  for (let call = 1; call <= 11; call += 1) t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.equal(before - (await holds()), 1_200_000n);
  t.match(await client.deposits(), [{ left: '0.54' }]);
  await client.refund();
  t.equal(before - (await holds()), 660_000n);
});

t.test('where a deposit has no room, a call is paid as it was before', async (t) => {
  const client = open({ deposit: '0.59' });
  const [before, { settlementCount }] = [await holds(), await gateway.calls()];
  t.match(await client.call(PICTURE, prompt()), { ok: true, receipt: { transaction: /^0x[0-9a-f]{64}$/ } });
  t.equal(before - (await holds()), PRICE);
  t.equal((await gateway.calls()).settlementCount, settlementCount + 1);
  t.same(await client.deposits(), []);
  t.match(await open({ protocol: 'mpp' }).call(`/mpp${PICTURE}`, prompt()), { ok: true });
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('a wallet with too little for a deposit is told so once, and pays its calls as it was before', async (t) => {
  const evm = generatePrivateKey();
  const { address } = privateKeyToAccount(evm);
  await fund(gateway, 'chain-c', address, 300_000n);
  const client = open({ evm });
  const before = await earned();
  t.match(await client.call(PICTURE, prompt()), {
    reason: 'refused',
    message: /exceeds balance.*Call again: the next call is not drawn from it/,
  });
  t.match(await client.call(PICTURE, prompt()), { ok: true, receipt: { transaction: /^0x[0-9a-f]{64}$/ } });
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.equal((await earned()) - before, 2n * PRICE);
});

t.test('work that comes to nothing charges nothing, and the next voucher is for the same', async (t) => {
  const relay = await startCuttingRelay(t, gateway.url);
  const client = open({}, { url: relay.url });
  const before = await holds();
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const refused = await client.call(PICTURE, prompt());
  t.match(refused, { ok: false, reason: 'refused', code: 'content_refused', isCounted: true });
  t.match(await client.deposits(), [{ left: '0.6' }], 'the deposit was made');
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  t.match(await client.call(PICTURE, prompt()), { ok: false, reason: 'refused' });
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.same(vouchersIn(relay.payments), [1n, 1n, 2n, 2n]);
  t.same(client.spending.spent, '0.12', 'what was signed for');
  t.match(await client.refund(), [{ ok: true, amount: '0.48' }]);
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('of a call that is priced by use, what was used is charged, and the rest is for the next', async (t) => {
  const client = open();
  const before = await holds();
  let charged = 0;
  for (let call = 0; call < 3; call += 1) {
    const { prompt: text } = prompt();
    const answer = await client.call('/llm/vendor3-5.6-terra', { prompt: text });
    if (!answer.ok) throw new Error(answer.message);
    t.ok(Number(answer.receipt?.charged) < Number(answer.paid?.price));
    charged += Number(answer.receipt?.charged);
  }
  const [refunded] = await client.refund();
  t.match(refunded, { ok: true });
  t.equal(Number(before - (await holds())), Math.round(charged * 1_000_000));
});

t.test('a lost answer is asked for with the very same voucher, and charged once', async (t) => {
  const relay = await startCuttingRelay(t, gateway.url);
  const client = open({}, { url: relay.url });
  for (const cuts of [1, 2]) {
    relay.payments.length = 0;
    relay.cuts = cuts;
    t.match(await client.call(PICTURE, prompt()), { ok: true, receipt: { charged: '0.06' } });
    t.equal(relay.payments.length, cuts + 1);
    t.equal(new Set(relay.payments).size, 1);
  }
  t.match(await client.deposits(), [{ left: '0.48' }]);
  t.match(await client.refund(), [{ ok: true, amount: '0.48' }]);
});

t.test('a call that nobody answered counts as charged, and is had with the same voucher after others', async (t) => {
  const relay = await startCuttingRelay(t, gateway.url);
  const client = open({}, { url: relay.url, retries: 0 });
  const before = await holds();
  relay.cuts = 1;
  const owed = await client.call(PICTURE, prompt());
  t.match(owed, { ok: false, reason: 'owed' });
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true, receipt: { charged: '0.06' } });
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.equal(relay.payments[0], relay.payments[2]);
  t.match(await client.refund(), [{ ok: true, amount: '0.42' }]);
  t.equal(before - (await holds()), 3n * PRICE);
});

t.test('a call that never reached the gateway is not charged, as the next one learns', async (t) => {
  const relay = await startCuttingRelay(t, gateway.url);
  let isLost = false;
  const losing: typeof fetch = async (target, init) => {
    const isPaid = new Headers(init?.headers).has('payment-signature');
    if (isLost && isPaid) throw new TypeError('fetch failed');
    return await fetch(target, init);
  };
  const client = open({}, { url: relay.url, retries: 0, fetch: losing });
  const before = await holds();
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  isLost = true;
  const owed = await client.call(PICTURE, prompt());
  t.match(owed, { ok: false, reason: 'owed' });
  isLost = false;
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.same(vouchersIn(relay.payments), [1n, 3n, 2n], 'the second is corrected by the gateway');
  t.same(client.spending.spent, '0.18');
  t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true });
  t.match(await client.refund(), [{ ok: true, amount: '0.42' }]);
  t.equal(before - (await holds()), 3n * PRICE);
});

t.test('a first call that never reached the gateway is not charged either', async (t) => {
  let isLost = true;
  const losing: typeof fetch = async (target, init) => {
    if (isLost && new Headers(init?.headers).has('payment-signature')) throw new TypeError('fetch failed');
    return await fetch(target, init);
  };
  const client = open({}, { retries: 0, fetch: losing });
  const before = await holds();
  t.match(await client.call(PICTURE, prompt()), { ok: false, reason: 'owed' });
  isLost = false;
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.match(await client.refund(), [{ ok: true }]);
  t.equal(before - (await holds()), PRICE);
});

t.test('a deposit of which nobody was told is found again', async (t) => {
  const relay = await startCuttingRelay(t, gateway.url);
  const client = open({}, { url: relay.url, retries: 0 });
  const before = await holds();
  relay.cuts = 1;
  t.match(await client.call(PICTURE, prompt()), { ok: false, reason: 'owed' });
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  t.equal(before - (await holds()), 600_000n, 'deposited once');
  t.match(await client.refund(), [{ ok: true, amount: '0.48' }]);
});

t.test('calls at the same time draw one after another, and no more than their limits', async (t) => {
  const client = open({}, { limit: { total: '0.24' } });
  const before = await holds();
  const answers = await Promise.all(Array.from({ length: 6 }, () => client.call(PICTURE, prompt())));
  t.equal(answers.filter(({ ok }) => ok).length, 4);
  t.equal(answers.filter((answer) => !answer.ok && answer.reason === 'limit').length, 2);
  t.same(client.spending, { spent: '0.24', left: '0' });
  t.match(await client.call(PICTURE, prompt(), { limit: '0.05' }), { reason: 'limit', limit: { kind: 'perCall' } });
  t.match(await client.refund(), [{ ok: true, amount: '0.36' }]);
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('who stops waiting for its turn has signed nothing', async (t) => {
  const client = open();
  const leaving = new AbortController();
  const fetching: typeof fetch = async (target, init) => {
    if (new Headers(init?.headers).has('payment-signature')) leaving.abort();
    return await fetch(target, init);
  };
  const held = open({}, { fetch: fetching });
  const [first, second] = await Promise.all([
    held.call(PICTURE, prompt()),
    held.call(PICTURE, prompt(), { signal: leaving.signal }),
  ]);
  t.match(first, { ok: true });
  t.ok(!second.ok && second.reason !== 'owed');
  t.same(held.spending.spent, '0.06');
  await held.refund();
  t.same(await client.deposits(), []);
});

/** Loses every payment on its way. */
const losingPayments: typeof fetch = async (target, init) => {
  if (new Headers(init?.headers).has('payment-signature')) throw new TypeError('fetch failed');
  return await fetch(target, init);
};

/** As a program keeps it. */
const fileStore = (path: string): DepositStore => ({
  read: () => readFile(path, 'utf8').catch(() => undefined),
  write: (text) => writeFile(path, text, { mode: 0o600 }),
});

t.test('a program that is started again goes on with its channel', async (t) => {
  const path = join(t.testdir({}), 'deposits.json');
  const depositStore = fileStore(path);
  const before = await holds();
  const first = open({ depositStore });
  t.match(await first.call(PICTURE, prompt()), { ok: true });
  const [opened] = await first.deposits();
  const second = open({ depositStore });
  t.match(await second.deposits(), [{ channel: opened?.channel, left: '0.54' }]);
  t.match(await second.call(PICTURE, prompt()), { ok: true });

  // This one dies between its voucher and the answer.
  const relay = await startCuttingRelay(t, gateway.url);
  relay.cuts = 1;
  t.match(await open({ depositStore }, { url: relay.url, retries: 0 }).call(PICTURE, prompt()), { reason: 'owed' });
  const account = privateKeyToAccount(gateway.state.evm['chain-c']?.privateKey ?? '0x');
  const address = account.address.toLowerCase() as typeof account.address;
  const last = open({ depositStore, evm: { ...account, address } });
  t.match(await last.call(PICTURE, prompt()), { ok: true });
  t.equal(before - (await holds()), 600_000n, 'one deposit');
  t.match(await last.refund(), [{ ok: true, amount: '0.36' }]);
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('what was deposited comes back though the gateway is paid elsewhere by now', async (t) => {
  const depositStore = fileStore(join(t.testdir({}), 'deposits.json'));
  const before = await holds();
  t.match(await open({ depositStore }).call(PICTURE, prompt()), { ok: true });
  // What this one has cost, nothing, it has to be told.
  const lost = open({ depositStore }, { retries: 0, fetch: losingPayments });
  t.match(await lost.call(PICTURE, prompt()), { reason: 'owed' });
  payTo = `0x${'77'.repeat(20)}`;
  const url = await gateway.startAnother();
  payTo = undefined;
  t.teardown(gateway.stopOthers);
  const client = open({ depositStore }, { url });
  t.match(await client.refund(), [{ ok: true, network: 'chain-c', amount: '0.54' }]);
  t.match(await client.deposits(), [{ left: '0', unanswered: '0' }]);
  t.equal(before - (await holds()), PRICE);
});

t.test('of two clients that share what is kept, the one that was overtaken signs nothing more', async (t) => {
  const depositStore = fileStore(join(t.testdir({}), 'deposits.json'));
  const before = await holds();
  const [one, other] = [open({ depositStore }), open({ depositStore })];
  t.match(await one.call(PICTURE, prompt()), { ok: true });
  t.match(await other.call(PICTURE, prompt()), { ok: true });
  const refused = { ok: false, code: 'not_signed', message: /another client has changed.*nothing was sent/ };
  t.match(await one.call(PICTURE, prompt()), refused);
  t.match(await one.call(PICTURE, prompt()), refused, 'nor the next time');
  t.equal(one.spending.spent, '0.06');
  t.match(await other.call(PICTURE, prompt()), { ok: true }, 'the other goes on');
  t.match(await other.refund(), [{ ok: true, amount: '0.42' }]);
  t.equal(before - (await holds()), 3n * PRICE);
});

t.test('nothing is sent that could not be kept, and what cannot be read is not guessed at', async (t) => {
  const before = await holds();
  const full = open({
    depositStore: {
      read: async () => undefined,
      write: async () => {
        throw new Error('no space left on device');
      },
    },
  });
  t.match(await full.call(PICTURE, prompt()), {
    ok: false,
    code: 'not_signed',
    message: /no space left.*nothing was sent/,
  });
  t.same(full.spending.spent, '0');
  for (const text of [
    '',
    '[]',
    '{"channels":[{}]}',
    '{"channels":[{"network":"chain-c","config":{},"deposited":"1e3"}]}',
    '{"channels":[{"network":"chain-c","config":{},"deposited":"1","returned":"0","balance":"1","charged":"0","signed":"0","pending":{"deposit":{},"expected":"1"}}]}',
  ]) {
    const client = open({ depositStore: { read: async () => text, write: async () => {} } });
    t.match(await client.call(PICTURE, prompt()), { ok: false, code: 'not_signed', message: /cannot be read/ });
    await t.rejects(client.deposits(), /cannot be read/);
  }
  const anothers = JSON.stringify({
    channels: [
      {
        ...{ network: 'chain-c', deposited: '1', returned: '0', balance: '1', charged: '0', signed: '0' },
        config: { payer: '0x1111111111111111111111111111111111111111' },
      },
    ],
  });
  const client = open({ depositStore: { read: async () => anothers, write: async () => {} } });
  t.match(await client.call(PICTURE, prompt()), { code: 'not_signed', message: /of another account/ });
  t.equal(await holds(), before);
});

t.test('two clients of one account have a channel each', async (t) => {
  const [one, other] = [open(), open()];
  const before = await holds();
  t.match(await Promise.all([one.call(PICTURE, prompt()), other.call(PICTURE, prompt())]), [
    { ok: true },
    { ok: true },
  ]);
  const [[first], [second]] = [await one.deposits(), await other.deposits()];
  t.not(first?.channel, second?.channel);
  await one.refund();
  await other.refund();
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('where a voucher for the same sum has paid before, the next call is drawn from another channel', async (t) => {
  t.teardown(gateway.stopOthers);
  const data = mkdtempSync(join(gateway.directory, 'shop-'));
  const client = open({ deposit: '2' }, { url: await gateway.startAnother(undefined, undefined, data) });
  const before = await holds();
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  const [first] = await client.deposits();
  // As a call leaves it that is priced by use, and used less than its voucher was for.
  const database = new Database(join(data, 'turnpike.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000');
  const max = String(2n * PRICE).padStart(39, '0');
  database.prepare('INSERT INTO charged_vouchers (channel, max) VALUES (?, ?)').run(first?.channel, max);
  database.close();
  t.match(await client.call(PICTURE, prompt()), {
    ok: false,
    reason: 'refused',
    message: /has paid for another call already.*Call again: the next call is not drawn from it/,
  });
  t.match(await client.call(PICTURE, prompt()), { ok: true, receipt: { charged: '0.06' } });
  t.match(await client.refund(), [
    { ok: true, amount: '0.54' },
    { ok: true, amount: '0.54' },
  ]);
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('who asked the contract for a deposit goes on from another, and has both back', async (t) => {
  t.teardown(gateway.stopOthers);
  const data = mkdtempSync(join(gateway.directory, 'shop-'));
  const url = await gateway.startAnother(undefined, undefined, data);
  const depositStore = fileStore(join(t.testdir({}), 'deposits.json'));
  const pay = { depositStore, deposit: '2' };
  const client = open(pay, { url });
  const before = await holds();
  t.match(await client.call(PICTURE, prompt()), { ok: true });
  const [first] = await client.deposits();
  if (!first) throw new Error('nothing was deposited');
  await askForDeposit(payer, first.config, 540_000n);
  // What is known of a channel is good for ten minutes.
  const database = new Database(join(data, 'turnpike.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000; UPDATE channels SET synced_at = 0');
  database.close();

  t.match(await client.call(PICTURE, prompt()), {
    ok: false,
    reason: 'refused',
    message: /asked for the deposit.*Call again: the next call is not drawn from it/,
  });
  t.match(await client.call(PICTURE, prompt()), { ok: true, receipt: { charged: '0.06' } });
  const again = open(pay, { url });
  t.match(await again.call(PICTURE, prompt()), { ok: true, receipt: { charged: '0.06' } }, 'also once it began again');
  t.match(await again.deposits(), [{ channel: first.channel, left: '0.54' }, { left: '0.48' }]);

  await takeDeposit(payer, first.config);
  // As it is once the time of all deposits that were signed is over.
  const kept = (await depositStore.read()) ?? '';
  await depositStore.write(kept.replaceAll(/"openUntil":"[0-9]+"/g, '"openUntil":"1000000000"'));
  const last = open(pay, { url });
  t.match(await last.refund(), [
    { ok: true, amount: '0' },
    { ok: true, amount: '0.48' },
  ]);
  t.match(await last.deposits(), [{ left: '0' }, { left: '0' }]);
  t.equal(before - (await holds()), 3n * PRICE);
});
