import pg from 'pg';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import type { Store } from '../../../src/store/store.ts';
import { startPostgres } from '../../postgres.ts';
import { claimable } from '../arrivals.ts';
import { atOnce } from '../at-once.ts';
import { chargesWithItsReceipt, claimsChannelsAlone, ID, sold } from '../channels/channels.ts';
import { storeContract } from '../contract.ts';
import {
  addFunded,
  fulfilledPayment,
  keyOf,
  ledgerSum,
  sampleHold,
  sampleKey,
  samplePurchase,
} from '../credits/credit-samples.ts';
import { saysWhereSumsLackSome } from '../figures/figures.ts';
import { pageOfPaid } from '../payments/books.ts';
import { manyPayments, pageOf } from '../payments/payers.ts';
import { LATE, usedWhileForgotten } from '../payments/used.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';
import { leavesDamagedRowsAlone } from './damaged-rows.ts';
import { openDatabases } from './databases.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
const emptyDatabase = openDatabases(url);

async function execute(database: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function openHere(t: Test, database: string) {
  const store = await openPostgresStore(database);
  t.teardown(() => store.close());
  return store;
}

t.test('Postgres', async (t) => {
  storeContract(t, async (t) => {
    const database = await emptyDatabase(t);
    return () => openPostgresStore(database);
  });
});

t.test('charges a channel together with the receipt of its payment, or not at all', async (t) => {
  const database = await emptyDatabase();
  await chargesWithItsReceipt(t, await openHere(t, database), async () => {
    await execute(
      database,
      `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
      CREATE TRIGGER breaking BEFORE UPDATE OF receipt ON payments FOR EACH ROW EXECUTE FUNCTION broken()`,
    );
    return () => execute(database, 'DROP TRIGGER breaking ON payments');
  });
});

t.test('rows that cannot be read are in nobody’s way: each is named once, and left alone', async (t) => {
  const database = await emptyDatabase();
  const lines: object[] = [];
  const store = await openPostgresStore(database, { log: { error: (details) => void lines.push(details) } });
  t.teardown(() => store.close());
  await leavesDamagedRowsAlone(t, store, lines, (sql) => execute(database, sql));
});

t.test('says where sums lack some of what is not counted', async (t) => {
  const database = await emptyDatabase();
  await saysWhereSumsLackSome(t, await openHere(t, database), (from, to) =>
    execute(
      database,
      `${manyPayments(`SELECT n FROM generate_series(${from}, ${to}) AS n`)};
      UPDATE payments SET settled_at = created_at`,
    ),
  );
});

/** A client of a database with 20,000 payments. */
async function withMany(t: Test): Promise<pg.Client> {
  const database = await emptyDatabase();
  await openHere(t, database);
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(manyPayments('SELECT n FROM generate_series(1, 20000) AS n'));
  return client;
}

t.test('finds a page of one payer in the index, however many payments there are', async (t) => {
  const client = await withMany(t);
  await client.query('ANALYZE payments');
  for (const payer of ['big', '0xsmall', 'nobody']) {
    const { rows } = await client.query(`EXPLAIN ${pageOf(payer)}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    // Nearly all payments are of one of them.
    const index = payer === 'big' ? /Index Scan Backward using payments_(of_payer|by_age)/ : /using payments_of_payer/;
    t.match(plan, index, payer);
    t.notMatch(plan, /Seq Scan/, payer);
  }
});

t.test('reads the books in the order of an index, however much they have', async (t) => {
  const client = await withMany(t);
  await client.query('UPDATE payments SET settled_at = created_at');
  await client.query('ANALYZE payments');
  const { rows } = await client.query(`EXPLAIN ${pageOfPaid}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  t.match(plan, /Index Scan using payments_by_settlement/);
  t.notMatch(plan, /Sort/);
});

t.test(
  'finds a payment and its payer in an index, also where everything was planned while there was nothing',
  async (t) => {
    const database = await emptyDatabase();
    const store = await openPostgresStore(database);
    await execute(database, 'ANALYZE');
    const exposure = { perPayer: 10n ** 9n, unproven: 10n ** 9n, failures: 1, failuresSince: 0 };
    for (let number = 0; number < 50; number += 1) {
      const outcome = await store.claim(sampleFacts(`payment-${number}`), claimAt(1, { exposure }));
      if (!outcome.won) throw new Error('a new payment is claimed');
      await store.fulfil(outcome.claim, sampleAnswer(), { cost: undefined, now: 2 });
      await store.settle(outcome.claim, sampleReceipt('0xabc'), 3);
    }
    await store.close();
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    t.teardown(() => client.end());
    for (;;) {
      // A server counts what a connection did a moment after it has ended.
      const { rows } = await client.query(
        `SELECT n_tup_ins AS claimed, seq_scan AS read_whole FROM pg_stat_user_tables WHERE relname = 'payments'`,
      );
      if (Number(rows[0]?.claimed) < 50) continue;
      t.ok(Number(rows[0].read_whole) < 10, `all of it was read ${rows[0].read_whole} times`);
      return;
    }
  },
);

t.test('gives each of many payments to one of five instances', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => openHere(t, database)));
  const ids = Array.from({ length: 40 }, (_, index) => `payment-${index}`);
  const outcomes = (
    await Promise.all(
      stores.map((store) => atOnce(ids.length, (index) => store.claim(sampleFacts(`payment-${index}`), claimAt(1)))),
    )
  ).flat();
  t.equal(outcomes.filter((outcome) => outcome.won).length, ids.length);
  t.equal(new Set(outcomes.flatMap((outcome) => (outcome.won ? [outcome.claim.id] : []))).size, ids.length);
});

/** Locks rows: `waited(count)` resolves once so many wait for them, `release` lets them go on. */
async function lockRows(database: string, rows: string) {
  const clients = [
    new pg.Client({ connectionString: database }),
    new pg.Client({ connectionString: database }),
  ] as const;
  const [blocker, watcher] = clients;
  for (const client of clients) client.on('error', () => {});
  await Promise.all(clients.map((client) => client.connect()));
  await blocker.query(`BEGIN; SELECT * FROM ${rows} FOR UPDATE`);
  const waiting = async (): Promise<number> => {
    const { rowCount } = await watcher.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  };
  return {
    async waited(count: number): Promise<void> {
      while ((await waiting()) < count) await new Promise(setImmediate);
    },
    release: () => blocker.query('COMMIT'),
    end: () => Promise.all(clients.map((client) => client.end())),
  };
}

/**
 * Both calls, made one after the other while `rows` are locked: each is past its first look at them or waits for them
 * before either can change them. Who came first has them first.
 */
async function bothAtOnce<Result>(database: string, rows: string, calls: (() => Promise<Result>)[]): Promise<Result[]> {
  const lock = await lockRows(database, rows);
  const results: Promise<Result>[] = [];
  for (const call of calls) {
    results.push(call());
    await lock.waited(results.length);
  }
  await lock.release();
  const ended = await Promise.allSettled(results);
  await lock.end();
  return ended.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

t.test('lets one of two who take over a payment at the same moment win', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  await stores[0]?.claim(sampleFacts('left'), claimAt(1));
  const outcomes = await bothAtOnce(
    database,
    'payments',
    stores.map((store) => () => store.claim(sampleFacts('left'), claimAt(20))),
  );
  t.equal(outcomes.filter(({ won }) => won).length, 1);
  t.match(await stores[0]?.find('left'), { attempt: 2 });
});

t.test('lets two calls at the same moment hold no more than there is', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  const [store] = stores as [Store, Store];
  await addFunded(store, 1_000n);
  const outcomes = await bothAtOnce(
    database,
    'api_keys',
    stores.map(
      ({ credits }, index) =>
        () =>
          credits.hold(sampleHold(`call-${index}`, 600n)),
    ),
  );
  t.match(
    outcomes.sort((one, other) => Number(other.held) - Number(one.held)),
    [{ held: true }, { held: false, because: 'balance' }],
  );
  t.match(await keyOf(store), { balance: 400n, held: 600n });
});

t.test('ends a hold once when its call is charged and cleared away at the same moment', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  const [store, other] = stores as [Store, Store];
  await addFunded(store, 1_000n);
  await store.credits.hold(sampleHold('call', 600n));
  const [charged, released] = await bothAtOnce<bigint | number | undefined>(database, 'holds', [
    () => store.credits.settle('call', { price: 250n, note: 'used' }, 2_000),
    () => other.credits.releaseExpired(2_000),
  ]);
  // Who comes second may charge what was cleared away: the hold is given back first, and then what was used is taken.
  t.ok(charged === undefined ? released === 1 : charged === 250n, `${charged} ${released}`);
  t.equal(await ledgerSum(store), charged === undefined ? 1_000n : 750n);
  t.match(await keyOf(store), { balance: charged === undefined ? 1_000n : 750n, held: 0n });
});

t.test('gives a channel to one of two payments, and charges it once, at the same moment', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  await claimsChannelsAlone(t, stores as [Store, Store], (calls) => bothAtOnce(database, 'channels', calls));
});

t.test('forgets nothing that comes into use again at the same moment', async (t) => {
  for (const [what, { rows, old, use, isThere }] of Object.entries(usedWhileForgotten)) {
    const database = await emptyDatabase();
    const [store, other] = await Promise.all([openHere(t, database), openHere(t, database)]);
    await old(store);
    await bothAtOnce<unknown>(database, rows, [() => use(store), () => other.forget(LATE)]);
    t.ok(await isThere(store), what);
  }
});

t.test('forgets payers that did not come back, and counts one that does at that moment', async (t) => {
  const database = await emptyDatabase();
  const [store, other] = await Promise.all([openHere(t, database), openHere(t, database)]);
  const exposure = { perPayer: 100n, unproven: 100n, failures: 1, failuresSince: 0 };
  const claim = (id: string, payer: string, at: number) =>
    store.claim(sampleFacts(id, { payer, amount: '70' }), claimAt(at, { exposure }));
  const payers = async (): Promise<string[]> => {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    const { rows } = await client.query('SELECT payer FROM payers ORDER BY payer').finally(() => client.end());
    return rows.map(({ payer }) => payer);
  };
  for (let number = 0; number < 60; number += 1) await claim(`payment ${number}`, `payer ${number}`, 1);
  await claim('late', 'another', LATE.values);
  t.equal((await payers()).length, 61);
  const [again] = await bothAtOnce<unknown>(database, "payers WHERE payer = 'payer 7'", [
    () => claim('again', 'payer 7', LATE.values),
    () => other.forget(LATE),
  ]);
  t.match(again, { won: true, open: 70n, exceeds: 'exposure' });
  t.same(await payers(), ['another', 'payer 7']);
});

t.test('forgets allowances beside who spends them, also where they were last spent in another order', async (t) => {
  const database = await emptyDatabase();
  const [store, other] = await Promise.all([openHere(t, database), openHere(t, database)]);
  const spend = (names: readonly string[], now: number) =>
    store.spendAllowances(
      names.map((name) => ({ name, milliseconds: 10, longestMs: 1_000 })),
      now,
    );
  await spend(['second'], 1);
  await spend(['first'], 2);
  const [spent] = await bothAtOnce<unknown>(database, "allowances WHERE name = 'first'", [
    () => spend(['first', 'second'], LATE.values),
    () => other.forget(LATE),
  ]);
  t.strictSame(spent, [LATE.values + 10, LATE.values + 10]);
  t.strictSame(await spend(['first', 'second'], LATE.values), [LATE.values + 20, LATE.values + 20]);
});

t.test('adds what two instances count at the same moment, in whatever order each of them has counted it', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  const [store, other] = stores as [Store, Store];
  const add = ({ figures }: Store, endpoints: readonly string[], counter: string) =>
    figures.addCalls(
      endpoints.map((endpoint) => ({
        at: 0,
        endpoint,
        door: 'x402',
        network: 'chain-a',
        bucket: 100,
        calls: 1,
        failures: 0,
        challenges: 0,
      })),
      { counter, number: 1 },
    );
  const endpoints = ['first', 'second', 'third'];
  await add(store, endpoints, 'before');
  await bothAtOnce(database, "call_totals WHERE endpoint = 'second'", [
    () => add(store, endpoints, 'one'),
    () => add(other, endpoints.toReversed(), 'another'),
  ]);
  for (const span of ['hour', 'day'] as const) {
    const counted = await store.figures.calls({ span, from: 0, to: 1 });
    t.strictSame(
      counted.map(({ endpoint, calls }) => [endpoint, calls]).sort(),
      endpoints.map((endpoint) => [endpoint, 3]),
    );
  }
});

t.test('claims a payment that is forgotten at the same moment as one that was never there', async (t) => {
  const database = await emptyDatabase();
  const [store, other] = await Promise.all([openHere(t, database), openHere(t, database)]);
  await claimable.released(store, 'payment');
  const [, outcome] = await bothAtOnce<unknown>(database, 'payments', [
    () => other.forget(LATE),
    () => store.claim(sampleFacts('payment'), claimAt(LATE.answers)),
  ]);
  t.match(outcome, { won: true, claim: { attempt: 1 }, before: undefined });
  t.match(await store.find('payment'), { state: 'claimed', attempt: 1 });
});

t.test('counts no credit whose payment another instance finds taken back at the same moment', async (t) => {
  const database = await emptyDatabase();
  const [store, other] = await Promise.all([openHere(t, database), openHere(t, database)]);
  const key = sampleKey('key');
  const settle = await fulfilledPayment(store, 'payment');
  await store.credits.purchase({ ...samplePurchase('payment', key), awaitsConfirmations: true }, 2);
  await settle();
  await store.figures.count(10);
  // The one that takes it back has changed the payment, and waits for the sums.
  const lock = await lockRows(database, 'money_totals');
  const reopening = store.reopen('payment', 'taken back', 5);
  await lock.waited(1);
  const confirming = other.credits.confirm('payment').then(() => other.credits.findKey(key.hash, 6));
  await Promise.race([confirming, lock.waited(2)]);
  await lock.release();
  const [isReopened] = await Promise.all([reopening, confirming]);
  await lock.end();
  t.equal(isReopened, true);
  t.match(await store.find('payment'), { state: 'unknown' });
  t.match(await keyOf(store), { balance: 0n });
  t.strictSame(await store.credits.pending('key'), [{ paymentId: 'payment', amount: 500n }]);
});

t.test('takes no payment back whose credit another instance confirms at the same moment', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all([openHere(t, database), openHere(t, database)]);
  const [store, other] = stores as [Store, Store];
  const settle = await fulfilledPayment(store, 'payment');
  await store.credits.purchase({ ...samplePurchase('payment', sampleKey('key')), awaitsConfirmations: true }, 2);
  await settle();
  const [isConfirmed, isReopened] = await bothAtOnce(database, 'payments', [
    () => other.credits.confirm('payment'),
    () => store.reopen('payment', 'taken back', 5),
  ]);
  t.strictSame([isConfirmed, isReopened], [true, false]);
  t.match(await store.find('payment'), { state: 'settled' });
  t.match(await keyOf(store), { balance: 500n });
});

t.test('goes on while a newer release adds to what it knows of payments and channels', async (t) => {
  const database = await emptyDatabase();
  const store = await openHere(t, database);
  await sold(store, 100);
  t.match(await store.channels.findFor(ID, '200'), { charged: '100', isSpent: false });
  await execute(database, 'ALTER TABLE payments ADD COLUMN later TEXT; ALTER TABLE channels ADD COLUMN later TEXT');
  await sold(store, 200);
  t.match(await store.channels.findFor(ID, '200'), { charged: '200', isSpent: false });
});
