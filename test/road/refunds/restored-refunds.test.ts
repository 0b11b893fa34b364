/** Databases that are restored know nothing of what was given back after their backup: the chain does, and money leaves once. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import t from 'tap';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import type { Refund, RefundRequest } from '../../../src/store/refunds/refund-store.ts';
import { payV2, receiptOf, request } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { mine } from '../../mine.ts';
import { wordsFor } from '../../words-for.ts';

const run = promisify(execFile);
const directory = t.testdir({ catalogue: {}, backups: {} });
const catalogue = join(directory, 'catalogue');
copySelling(['image/family-e-2'], catalogue);

/** How many settlements wait for each other before any of them moves money. */
let together = 1;
const waiting: (() => void)[] = [];
const meet = () =>
  new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length < together) return;
    for (const goOn of waiting.splice(0)) goOn();
    together = 1;
  });
const meeting = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  async settle(...payment) {
    await meet();
    return facilitator.settle(...payment);
  },
});

/** It sells, and sends no refunds: those who have a backup of it do. */
const gateway = await startGateway({
  catalogue,
  networks: ['chain-c'],
  tempo: true,
  intervals: { reconcileEveryMs: 3_600_000 },
  between: async ({ facilitators }) => ({
    facilitators: facilitators.map((named) => ({ ...named, facilitator: meeting(named.facilitator) })),
  }),
});
t.teardown(gateway.stop);

const PRICE = 60_000n;
let made = 0;

/** Buys a picture. Answers the transaction that paid for it. */
async function buy(network: string): Promise<string> {
  made += 1;
  const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
  if (network !== 'tempo') return receiptOf(await payV2(gateway, network, call)).transaction;
  const url = `${gateway.url}/mpp/image/family-e-2`;
  const { authorization = '' } = await openMppPayer(gateway.state, 'tempo').sign(await fetch(url, call.init));
  const paid = await fetch(url, { ...call.init, headers: { ...call.init.headers, authorization } });
  return JSON.parse(Buffer.from(paid.headers.get('payment-receipt') ?? '', 'base64url').toString()).reference;
}

/** Has a database write down that a payment is wanted back. */
async function want(data: string, transaction: string, order: Omit<RefundRequest, 'paymentId'>): Promise<void> {
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  try {
    const [payment] = await store.list({ transaction, limit: 1 });
    const outcome = await store.refunds.want({ ...order, paymentId: payment?.id ?? '' });
    if ('refused' in outcome) throw new Error(outcome.refused);
  } finally {
    await store.close();
  }
}

/** What `npm run refund` writes down. */
const giveBack = (transaction: string, data = gateway.directory, amount?: bigint) =>
  want(data, transaction, {
    reason: 'given back by the operator',
    isAutomatic: false,
    reference: randomUUID(),
    now: Date.now(),
    ...(amount !== undefined && { amount }),
  });

/** Two copies of one backup. */
async function backUp(): Promise<[string, string]> {
  const [copy, another] = ['one', 'another'].map((name) => mkdtempSync(join(directory, 'backups', name))) as [
    string,
    string,
  ];
  const database = new Database(join(gateway.directory, 'turnpike.sqlite'), { readonly: true });
  // As `npm run backup` does.
  database.exec(`VACUUM INTO '${join(copy, 'turnpike.sqlite')}'`);
  database.close();
  cpSync(copy, another, { recursive: true });
  return [copy, another];
}

async function until<Happened>(happened: () => Promise<Happened | false | undefined>): Promise<Happened> {
  for (;;) {
    const value = await happened();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The newest refund in a copy. */
async function refundIn(copy: string): Promise<Refund | undefined> {
  const store = openSqliteStore(join(copy, 'turnpike.sqlite'));
  try {
    const [refund] = await store.refunds.list({ limit: 1 });
    return refund;
  } finally {
    await store.close();
  }
}

const sentIn = (copy: string) =>
  until(async () => {
    const refund = await refundIn(copy);
    return refund?.state === 'sent' && refund;
  });

/** Starts a gateway on a copy, that sends refunds. `ahead`: by how many hours its clock is. */
const restore = (copy: string, ahead = () => 0) =>
  gateway.startAnother(() => Date.now() + ahead() * 3_600_000, undefined, copy, { reconcileEveryMs: 50 });

t.afterEach(() => gateway.stopOthers());

/** Wants the payment given back, by a clock that is so many hours ahead. */
const wantLater = (copy: string, transaction: string, hours: number) =>
  want(copy, transaction, { reason: 'a test', isAutomatic: false, now: Date.now() + hours * 3_600_000 });

const rpcOf = (network: string) =>
  createRpc((network === 'tempo' ? gateway.state.tempo?.rpcUrl : gateway.state.evm[network]?.rpcUrl) ?? '');

for (const network of ['chain-c', 'tempo']) {
  t.test(`a refund on ${network} that a restored database still wants is not sent again`, async (t) => {
    await giveBack(await buy(network));
    const [first, second] = await backUp();
    const before = await gateway.spendable(network);
    await restore(first);
    const { transaction } = await sentIn(first);
    t.equal(await gateway.spendable(network), before + PRICE, 'what was not sent is sent');
    await restore(second);
    t.match(await sentIn(second), { transaction });
    t.equal(await gateway.spendable(network), before + PRICE, 'once');
  });

  t.test(`nor is one on ${network} that is wanted anew, long after it was sent`, async (t) => {
    const paid = await buy(network);
    const [first, second] = await backUp();
    const before = await gateway.spendable(network);
    await giveBack(paid, first);
    await restore(first);
    const { transaction } = await sentIn(first);
    await mine(rpcOf(network), 1_300, 0);
    await wantLater(second, paid, 3);
    await restore(second, () => 3);
    t.match(await sentIn(second), { transaction });
    t.equal(await gateway.spendable(network), before + PRICE);
  });
}

t.test('two gateways on two copies of a database send a refund once in all', async (t) => {
  await giveBack(await buy('chain-c'));
  const copies = await backUp();
  const before = await gateway.spendable('chain-c');
  together = copies.length;
  let hours = 0;
  await Promise.all(copies.map((copy) => restore(copy, () => hours)));
  // Whose own transfer was refused asks the chain once its lease has run out.
  await until(async () => (await Promise.all(copies.map(refundIn))).some((refund) => refund?.state === 'sent'));
  hours = 1;
  const [one, other] = await Promise.all(copies.map(sentIn));
  t.match(one?.transaction, /^0x/);
  t.equal(one?.transaction, other?.transaction);
  t.equal(await gateway.spendable('chain-c'), before + PRICE);
});

for (const network of ['chain-c', 'tempo']) {
  t.test(`where another amount was sent on ${network}, nothing more is, and the operator is told`, async (t) => {
    const paid = await buy(network);
    const [first, second] = await backUp();
    const before = await gateway.spendable(network);
    await giveBack(paid, first, 20_000n);
    await restore(first);
    await sentIn(first);
    await giveBack(paid, second);
    await restore(second);
    const { fault } = await until(async () => {
      const refund = await refundIn(second);
      return refund?.fault !== undefined && refund;
    });
    t.match(fault, /another amount.*by hand/);
    t.equal(await gateway.spendable(network), before + 20_000n);
    const listed = await run(process.execPath, [...wordsFor('src/cli/refund.ts'), '--list'], {
      env: { PATH: process.env.PATH, TURNPIKE_DATA: second },
    });
    t.match(listed.stdout, /wanted .*another amount/);
  });
}
