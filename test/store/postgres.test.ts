import { mock } from 'node:test';
import pg from 'pg';
import t, { type Test } from 'tap';
import { postgresDialect } from '../../src/store/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../postgres.ts';
import { pageOfPaid } from './books.ts';
import { chargesWithItsReceipt, claimsChannelsAlone } from './channels.ts';
import { storeContract } from './contract.ts';
import { addFunded, keyOf, ledgerSum, sampleHold } from './credit-samples.ts';
import { keepsOldRows, RELEASED_WITH_HEADERS, writeOldRows } from './migrations.ts';
import { manyPayments, pageOf } from './payers.ts';
import { claimAt, sampleFacts } from './samples.ts';

const { url, interrupt, stop } = await startPostgres();
t.teardown(stop);
let databases = 0;

/** The URL of a database that nobody used before. */
async function emptyDatabase(): Promise<string> {
  databases += 1;
  const name = `contract_${databases}`;
  await asSuperuser(url, `CREATE DATABASE ${name}`);
  const fresh = new URL(url);
  fresh.pathname = `/${name}`;
  return fresh.href;
}

async function asSuperuser(database: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(sql);
  await client.end();
}

async function openHere(t: Test, database: string) {
  const store = await openPostgresStore(database);
  t.teardown(() => store.close());
  return store;
}

t.test('Postgres', async (t) => {
  storeContract(t, async () => {
    const database = await emptyDatabase();
    return () => openPostgresStore(database);
  });
});

t.test('charges a channel together with the receipt of its payment, or not at all', async (t) => {
  const database = await emptyDatabase();
  await chargesWithItsReceipt(t, await openHere(t, database), async () => {
    await asSuperuser(
      database,
      `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
      CREATE TRIGGER breaking BEFORE UPDATE OF receipt ON payments FOR EACH ROW EXECUTE FUNCTION broken()`,
    );
    return () => asSuperuser(database, 'DROP TRIGGER breaking ON payments');
  });
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
    t.match(plan, /Index Scan Backward using payments_of_payer/, payer);
    t.notMatch(plan, /Sort|Seq Scan/, payer);
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

t.test('gives each of many payments to one of five instances', async (t) => {
  const database = await emptyDatabase();
  const stores = await Promise.all(Array.from({ length: 5 }, () => openHere(t, database)));
  const ids = Array.from({ length: 40 }, (_, index) => `payment-${index}`);
  const outcomes = await Promise.all(
    stores.flatMap((store) => ids.map((id) => store.claim(sampleFacts(id), claimAt(1)))),
  );
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
 * Both calls, made while `rows` are locked: each is past its first look at them or waits for them before either can
 * change them.
 */
async function bothAtOnce<Result>(database: string, rows: string, calls: (() => Promise<Result>)[]): Promise<Result[]> {
  const lock = await lockRows(database, rows);
  const results = calls.map((call) => call());
  await lock.waited(calls.length);
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

t.test('serves on after the server has cut its connections', async (t) => {
  const database = await emptyDatabase();
  const store = await openHere(t, database);
  await store.claim(sampleFacts('before'), claimAt(1));
  await asSuperuser(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'contract_%'");
  const found = await store.find('before').catch(() => store.find('before'));
  t.match(found, { state: 'claimed' });
});

t.test('refuses while the server is gone, whatever was under way, and serves on when it is back', async (t) => {
  const database = await emptyDatabase();
  const store = await openHere(t, database);
  await store.claim(sampleFacts('before'), claimAt(1));
  const lock = await lockRows(database, 'payments');
  const underWay = Promise.allSettled([
    store.claim(sampleFacts('before'), claimAt(20)),
    store.giveUp({ id: 'before', attempt: 1 }, 'released', 'none', 20),
  ]);
  await lock.waited(2);
  const resume = await interrupt();
  const unavailable = { code: 'store_unavailable', status: 503, headers: { 'retry-after': /\d/ } };
  for (const ended of await underWay) t.match(ended, { status: 'rejected', reason: unavailable });
  await t.rejects(store.find('before'), unavailable);
  await t.rejects(store.claim(sampleFacts('during'), claimAt(1)), unavailable);
  await resume();
  t.match(await store.find('before'), { state: 'claimed', attempt: 1 });
  t.match(await store.claim(sampleFacts('after'), claimAt(1)), { won: true });
});

t.test('goes by the clock of the server', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1 });
  const store = await openHere(t, await emptyDatabase()).finally(() => mock.timers.reset());
  t.ok(Math.abs(store.now() - Date.now()) < 60_000);
  await store.check();
  t.ok(Math.abs(store.now() - Date.now()) < 60_000);
});

t.test('what older releases kept of settlements is read by this one', async (t) => {
  const database = await emptyDatabase();
  const client = new pg.Client(database);
  await client.connect();
  await writeOldRows(postgresDialect, (sql) => client.query(sql));
  await client.query('CREATE TABLE turnpike_schema (version INTEGER NOT NULL PRIMARY KEY)');
  await client.query(`INSERT INTO turnpike_schema VALUES (${RELEASED_WITH_HEADERS})`);
  await client.end();
  await keepsOldRows(t, await openHere(t, database));
});

t.test('says what to do when the database comes from a newer release', async (t) => {
  const database = await emptyDatabase();
  await asSuperuser(
    database,
    'CREATE TABLE turnpike_schema (version INTEGER); INSERT INTO turnpike_schema VALUES (9999)',
  );
  await t.rejects(openPostgresStore(database), { message: /9999.*newer release/ });
});

t.test('does not tell the password when the database cannot be used', async (t) => {
  const wrong = new URL(url);
  wrong.password = 'hunter2';
  const unreachable = new URL(wrong);
  unreachable.port = '1';
  for (const address of [wrong.href, unreachable.href, 'postgres://user:hunter2@host:not-a-port/name']) {
    const error = await openPostgresStore(address).then(
      () => t.fail('must not open'),
      (error: unknown) => error as Error,
    );
    t.match(error, { message: /Postgres database cannot be used: .+ DATABASE_URL/ });
    t.notMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /hunter2/);
  }
});
