/** What older releases wrote is kept: one promise, held on each engine. */
import type { Test } from 'tap';
import { type Dialect, type Migration, migrationsFrom } from '../../../src/store/migrations/migrations.ts';
import type { Receipt, Store } from '../../../src/store/store.ts';

/** The first three steps of the schema: receipts were headers then. */
const RELEASED_WITH_HEADERS = 3;

const base64 = (value: object, encoding: 'base64' | 'base64url'): string =>
  Buffer.from(JSON.stringify(value)).toString(encoding);

const moved = { success: true, transaction: '0xfeed', network: 'eip155:8453', payer: '0xPayer', amount: '100000' };
const dollars = { 'turnpike-quoted': '0.1', 'turnpike-charged': '0.1' };

const kept: readonly { readonly id: string; readonly headers: object; readonly details: Receipt['details'] }[] = [
  {
    id: 'second version',
    headers: { 'payment-response': base64(moved, 'base64'), ...dollars },
    details: { version: '2', network: 'eip155:8453', payer: '0xPayer', quoted: '0.1', charged: '0.1' },
  },
  {
    id: 'first version',
    headers: { 'x-payment-response': base64({ ...moved, network: 'base' }, 'base64'), ...dollars },
    details: { version: '1', network: 'base', payer: '0xPayer', quoted: '0.1', charged: '0.1' },
  },
  {
    id: 'a charge',
    headers: {
      'payment-receipt': base64({ method: 'tempo', reference: '0xfeed', status: 'success' }, 'base64url'),
      'cache-control': 'private',
    },
    details: { method: 'tempo' },
  },
];

/** More rows than one page of the migration. */
const MANY = 1_203;

/** The schema as it was, and the rows in it; `run` takes SQL text with values written into it. */
async function writeOldRows(dialect: Dialect, run: (sql: string) => Promise<unknown>): Promise<void> {
  for (const migration of migrationsFrom(0, dialect).slice(0, RELEASED_WITH_HEADERS)) await run(textOf(migration));
  const filler = Array.from({ length: MANY }, (_, number) => ({ id: `filler ${number}`, headers: kept[0]?.headers }));
  for (const { id, headers } of [...kept, ...filler]) {
    const receipt = JSON.stringify({ transaction: '0xfeed', amount: '100000', settledAt: 1_700_000_000_000, headers });
    await run(`INSERT INTO payments (id, rail, network, asset, payer, pay_to, amount, route, binding, fingerprint, trace,
      settles_first, state, attempt, owner, lease_until, receipt, created_at, updated_at)
      VALUES ('${id}', 'r', 'n', 'a', 'p', 't', '100000', 'route', 'digest of ${id}', 'f', '{"nonce":"1"}', 1, 'settled',
      1, '', 0, '${receipt}', 1, 1)`);
  }
  await run(`INSERT INTO payments (id, rail, network, asset, payer, pay_to, amount, route, binding, fingerprint, trace,
    settles_first, state, attempt, owner, lease_until, created_at, updated_at)
    VALUES ('unpaid', 'r', 'n', 'a', 'p', 't', '1', 'route', 'd', 'f', '{}', 0, 'released', 1, '', 0, 1, 1)`);
}

function textOf(migration: Migration): string {
  if (typeof migration === 'string') return migration;
  throw new Error('a step of the first releases was plain SQL');
}

/** The last step before vouchers that were charged were kept by themselves. */
const RELEASED_WITH_CHANNELS = 21;

const CHANNEL = `0x${'c1'.repeat(32)}`;
const OTHER = `0x${'c2'.repeat(32)}`;

/** Calls of a channel that was charged 120 in all, one of another, and some that were charged to none. */
async function writeOldVouchers(dialect: Dialect, run: (sql: string) => Promise<unknown>): Promise<void> {
  for (const migration of migrationsFrom(0, dialect).slice(0, RELEASED_WITH_CHANNELS)) {
    if (typeof migration === 'string') await run(migration);
  }
  const channel = (id: string, charged: string, max: string) =>
    run(`INSERT INTO channels (id, network, payer, config, charged, voucher_max, balance, total_claimed,
      withdraw_requested_at, refund_nonce, synced_at, created_at, updated_at)
      VALUES ('${id}', 'n', 'p', '{}', '${charged}', ${max}, '9000', '0', 0, '0', 1, 1, 1)`);
  await channel(CHANNEL, '120', `'1120'`);
  await channel(OTHER, '60', 'NULL');
  const payment = (id: string, receipt = `'{}'`) =>
    run(`INSERT INTO payments (id, rail, network, asset, payer, pay_to, amount, route, request_digest, fingerprint,
      recovery_query, settle_upfront, state, attempt, owner, lease_until, receipt, created_at, updated_at)
      VALUES ('${id}', 'r', 'n', 'a', 'p', 't', '1', 'route', 'd', 'f', '{}', 1, 'settled', 1, '', 0, ${receipt}, 1, 1)`);
  const drawn = (id: string, max: string, digest = 'd', receipt?: string) =>
    payment(`channel:eip155:84532:${id}:${max}:${digest}`, receipt);
  for (const max of ['1000', '121', '120', '99']) await drawn(CHANNEL, max);
  await drawn(CHANNEL, '500', 'failed', 'NULL');
  await drawn(OTHER, '900');
  await drawn(`0x${'c3'.repeat(32)}`, '900');
  await payment('eip3009:eip155:84532:0xpayer:1000:d');
  for (let number = 0; number < MANY; number += 1) await drawn(CHANNEL, '50', `filler ${number}`);
}

/** After the newest release has opened it. */
async function knowsOldVouchers(t: Test, { channels }: Store): Promise<void> {
  const spent = async (id: string, maxes: readonly string[]) => {
    const isSpent = async (max: string) => (await channels.findFor(id, max))?.isSpent;
    const found = await Promise.all(maxes.map(isSpent));
    return maxes.filter((_, at) => found[at]);
  };
  const all = ['1120', '1000', '900', '500', '121', '120', '99', '50'];
  t.same(await spent(CHANNEL, all), ['1120', '1000', '121'], 'the newest, and what calls before it have left');
  t.same(await spent(OTHER, all), ['900']);
}

/** After the newest release has opened it. */
async function keepsOldRows(t: Test, store: Store): Promise<void> {
  for (const { id, details } of kept) {
    t.match(await store.find(id), {
      requestDigest: `digest of ${id}`,
      recoveryQuery: '{"nonce":"1"}',
      settleUpfront: true,
      receipt: { transaction: '0xfeed', amount: '100000', settledAt: 1_700_000_000_000, details },
    });
  }
  for (const number of [0, 500, MANY - 1]) {
    t.same((await store.find(`filler ${number}`))?.receipt?.details, kept[0]?.details);
  }
  const { payments } = await store.paid({
    from: 1_700_000_000_000,
    to: 1_700_000_000_001,
    after: undefined,
    limit: 5_000,
  });
  t.equal(payments.length, MANY + kept.length, 'and is in the books at its time');
  const AMOUNT = 100_000n * BigInt(MANY + kept.length);
  const sums = async () => (await store.figures.money({ span: 'day', from: 0, to: 1_800_000_000_000 })).sums;
  const found = async () => (await store.list({ transaction: '0xfeed', limit: 2 })).length;
  t.equal(await found(), 2);
  t.same(await store.list({ transaction: '0xother', limit: 2 }), [], 'and no other');
  while (await store.figures.count(500));
  t.match(await sums(), [{ revenue: AMOUNT, settled: MANY + kept.length }], 'and is counted');
  t.equal(await found(), 2, 'and found by its transaction as before');
  t.match(await store.find('unpaid'), { state: 'released', receipt: undefined, settleUpfront: false });
}

/** What an upgrade has to keep, each with the version of the schema that wrote it. */
export const upgrades = [
  {
    what: 'what older releases kept of settlements is read by this one',
    version: RELEASED_WITH_HEADERS,
    write: writeOldRows,
    isKept: keepsOldRows,
  },
  {
    what: 'vouchers that older releases have charged are spent in this one',
    version: RELEASED_WITH_CHANNELS,
    write: writeOldVouchers,
    isKept: knowsOldVouchers,
  },
] as const;
