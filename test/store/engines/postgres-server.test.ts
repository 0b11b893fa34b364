/** A server that many share: how a store comes to its database, what it leaves there, and what it says of one in trouble. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { Problem } from '../../../src/errors.ts';
import { readKeptConfig } from '../../../src/gateway/config.ts';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { postgresDialect, schemaVersion } from '../../../src/store/migrations/migrations.ts';
import { openStore } from '../../../src/store/open.ts';
import { relayDatabase } from '../../database-relay.ts';
import { startPostgres } from '../../postgres.ts';
import { addFunded, keyOf, sampleHold } from '../credits/credit-samples.ts';
import { claimAt, sampleFacts } from '../samples.ts';
import { upgrades } from './migrations.ts';

const { url, socketUrl, interrupt, stop } = await startPostgres();
t.teardown(stop);

/** More than a store has connections. */
const MANY = 12;

let databases = 0;

async function connect(database: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function asSuperuser(sql: string): Promise<void> {
  const client = await connect(url);
  await client.query(sql).finally(() => client.end());
}

/** A database that nobody used before, and somebody who looks at it beside the stores. */
async function emptyDatabase(t: Test) {
  databases += 1;
  const name = `server_${databases}`;
  await asSuperuser(`CREATE DATABASE ${name}`);
  const fresh = new URL(url);
  fresh.pathname = `/${name}`;
  const client = await connect(fresh.href);
  t.teardown(() => client.end());
  const rows = async (sql: string) => (await client.query(sql)).rows;
  return {
    database: fresh.href,
    name,
    rows,
    /** Takes locks; gives what releases them. */
    async lock(sql: string) {
      const other = await connect(fresh.href);
      await other.query(`BEGIN; ${sql}`);
      return () => other.end();
    },
    /** One of the processes that wait for a lock, once there are so many. */
    async waiting(count = 1): Promise<number> {
      const sql = `SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`;
      for (;;) {
        const found = await rows(sql);
        if (found.length >= count) return found[0].pid;
      }
    },
    /** Whether nobody is connected any more: Postgres waits a while for those who are about to go. */
    async isLeft(): Promise<boolean> {
      await client.end();
      return asSuperuser(`DROP DATABASE ${name}`).then(
        () => true,
        () => false,
      );
    },
  };
}

async function openHere(t: Test, database: string) {
  const store = await openPostgresStore(database);
  t.teardown(() => store.close());
  return store;
}

/** What leads to a server, which hears nothing of its being cut: nobody closes a connection where the power has failed. */
async function startCable(t: Test, database: string) {
  let isCut = false;
  const url = await relayDatabase(t, database, (near, far) => {
    near.on('data', (bytes) => void (isCut || far.write(bytes)));
    far.on('data', (bytes) => void (isCut || near.write(bytes)));
    for (const end of [near, far]) end.on('error', () => {});
    near.on('close', () => void (isCut || far.destroy()));
    far.on('close', () => near.destroy());
    t.teardown(() => far.destroy());
  });
  return {
    url,
    cut() {
      isCut = true;
    },
  };
}

/** Where tests work that leave nothing behind that is in another's way. */
const shared = await emptyDatabase(t);

t.test('keeps its state there, and makes no file, when a database is named', async (t) => {
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  const { database: databaseUrl } = shared;
  const store = await openStore({ databaseUrl, file });
  t.match(await store.claim(sampleFacts('shared'), claimAt(1)), { won: true });
  await store.close();
  const again = await openStore({ databaseUrl, file });
  t.match(await again.find('shared'), { state: 'claimed' });
  await again.close();
  t.notOk(existsSync(file));
});

t.test('comes to its database over a socket, whose address names no host', async (t) => {
  const { databaseUrl = '' } = readKeptConfig({ DATABASE_URL: socketUrl });
  const store = await openHere(t, databaseUrl);
  t.match(await store.claim(sampleFacts('by socket'), claimAt(1)), { won: true });
});

t.test('serves all who have asked before it is closed, and leaves no connection open', async (t) => {
  const { database, rows, isLeft } = await emptyDatabase(t);
  const store = await openPostgresStore(database);
  const ids = Array.from({ length: 3 * MANY }, (_, index) => `payment-${index}`);
  const claimed = Promise.allSettled(ids.map((id) => store.claim(sampleFacts(id), claimAt(1))));
  const closed = store.close();
  t.same(new Set((await claimed).map(({ status }) => status)), new Set(['fulfilled']));
  await closed;
  await store.close();
  t.same(await rows('SELECT count(*)::int AS count FROM payments'), [{ count: ids.length }]);
  const refused = { message: 'The store is closed' };
  await t.rejects(store.find('payment-1'), refused);
  await t.rejects(store.claim(sampleFacts('late'), claimAt(1)), refused);
  t.ok(await isLeft());
});

t.test('those that start together make the schema one after the other, each step once', async (t) => {
  const { database, rows } = await emptyDatabase(t);
  const stores = await Promise.all([openHere(t, database), openHere(t, database), openHere(t, database)]);
  for (const store of stores) await store.check();
  const versions = Array.from({ length: schemaVersion }, (_, index) => ({ version: index + 1 }));
  t.same(await rows('SELECT version FROM turnpike_schema ORDER BY version'), versions);
});

t.test('waits for whoever makes the schema, and says so where it is cut off meanwhile', async (t) => {
  const { database, rows, lock, waiting } = await emptyDatabase(t);
  // As `postgres.ts` does, in every release.
  const release = await lock('SELECT pg_advisory_xact_lock(4020402)');
  const cut = t.rejects(openPostgresStore(database), { name: 'StoreProblem', message: /terminat/ });
  await rows(`SELECT pg_terminate_backend(${await waiting()})`);
  await cut;
  const opened = openHere(t, database);
  await waiting();
  await release();
  await (await opened).check();
});

t.test('leaves a database as it was whose schema cannot be made whole', async (t) => {
  const { database, rows } = await emptyDatabase(t);
  await rows('CREATE TABLE nonces (theirs TEXT)');
  await t.rejects(openPostgresStore(database), { message: /relation "nonces" already exists/ });
  t.same(await rows(`SELECT to_regclass('payments') AS payments, to_regclass('turnpike_schema') AS version`), [
    { payments: null, version: null },
  ]);
  await rows('DROP TABLE nonces');
  await (await openHere(t, database)).check();
});

t.test('refuses a database that may not be written, or that does not tell the time, and leaves it', async (t) => {
  const readOnly = await emptyDatabase(t);
  await asSuperuser(`ALTER DATABASE ${readOnly.name} SET default_transaction_read_only = on`);
  await t.rejects(openPostgresStore(readOnly.database), {
    name: 'StoreProblem',
    message:
      'The Postgres database cannot be used: cannot execute CREATE TABLE in a read-only transaction. ' +
      'Check DATABASE_URL',
  });
  t.ok(await readOnly.isLeft());

  const timeless = await emptyDatabase(t);
  await timeless.rows(`CREATE SCHEMA own;
    CREATE FUNCTION own.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'no clock'; END $$;
    ALTER DATABASE ${timeless.name} SET search_path = own, pg_catalog`);
  await t.rejects(openPostgresStore(timeless.database), { name: 'StoreProblem', message: /no clock/ });
  t.ok(await timeless.isLeft());
});

t.test('what was changed by whom is asked of the row: each statement tells how many it has changed', async (t) => {
  const store = await openHere(t, shared.database);
  await store.claim(sampleFacts('once'), claimAt(1));
  t.equal(await store.giveUp({ id: 'once', attempt: 1 }, 'released', 'none', 2), true);
  t.equal(await store.giveUp({ id: 'once', attempt: 1 }, 'released', 'none', 2), false);
});

t.test('undoes what fails, however often, and serves on', async (t) => {
  const { database, rows } = await emptyDatabase(t);
  const store = await openHere(t, database);
  await addFunded(store, 1_000n);
  await rows(`ALTER TABLE ledger ADD CHECK (reference <> 'refused')`);
  for (let time = 0; time < MANY; time += 1) {
    await t.rejects(store.credits.hold(sampleHold('refused', 600n)), { name: 'error', code: '23514' });
  }
  t.match(await keyOf(store), { balance: 1_000n, held: 0n });
  for (let time = 0; time < MANY; time += 1) {
    t.match(await store.credits.hold(sampleHold(`call-${time}`, 10n)), { held: true });
  }
  t.match(await keyOf(store), { balance: 880n, held: 120n });
});

t.test('money that comes in waits for the disk, calls do not, and both see what others have committed', async (t) => {
  const { database, name, rows } = await emptyDatabase(t);
  await asSuperuser(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
  const store = await openHere(t, database);
  await rows(`CREATE TABLE seen (kind TEXT, patience TEXT, isolation TEXT);
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO seen
        VALUES (NEW.kind, current_setting('synchronous_commit'), current_setting('transaction_isolation'));
      RETURN NEW;
    END $$;
    CREATE TRIGGER looking AFTER INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION look()`);
  await addFunded(store, 1_000n);
  await store.credits.hold(sampleHold('call', 600n));
  await store.credits.settle('call', { price: 250n, note: 'used' }, 1_500);
  await store.credits.refund({ call: 'call', reason: 'was late', reference: 'one', now: 1_600 });
  const isolation = 'read committed';
  t.same(await rows('SELECT * FROM seen'), [
    { kind: 'grant', patience: 'on', isolation },
    { kind: 'hold', patience: 'off', isolation },
    { kind: 'settle', patience: 'off', isolation },
    { kind: 'refund', patience: 'on', isolation },
  ]);
});

t.test('writes what another has written at the same moment, whatever isolation the database begins with', async (t) => {
  const { database, name, waiting } = await emptyDatabase(t);
  await asSuperuser(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  const store = await openHere(t, database);
  await store.keep('value', 'old', 1);
  const other = await connect(database);
  t.teardown(() => other.end());
  await other.query("BEGIN; UPDATE kept SET value = 'theirs'");
  const written = t.resolves(store.keep('value', 'new', 2));
  await waiting();
  await other.query('COMMIT');
  await written;
  t.match(await store.cached('value', 1), { value: 'new' });
});

t.test('tells a mistake of ours from a server that does not do what it is asked now', async (t) => {
  const { database, rows, lock, waiting } = shared;
  const store = await openHere(t, database);
  const mistake = await store.find('one\0two').catch((error: unknown) => error);
  t.match(mistake, { code: '22021' });
  t.notOk(mistake instanceof Problem, 'it would be refused again');
  const release = await lock('LOCK TABLE payments');
  const refused = t.rejects(store.find('one'), {
    code: 'store_unavailable',
    cause: { message: 'canceling statement due to user request' },
  });
  await rows(`SELECT pg_cancel_backend(${await waiting()})`);
  await refused;
  await release();
  t.equal(await store.find('one'), undefined);
});

t.test(
  'says that it is not ready, and why, while somebody keeps a table locked that calls are written to',
  async (t) => {
    const { database, lock } = shared;
    const store = await openHere(t, database);
    // As CREATE INDEX does; VACUUM FULL keeps readers away, too.
    const release = await lock('LOCK TABLE payments IN SHARE MODE');
    // More than there are connections.
    const calls = Array.from({ length: 20 }, (_, index) => store.claim(sampleFacts(`waiting ${index}`), claimAt(1)));
    const answered = Promise.allSettled(calls);
    await t.rejects(store.check(), {
      code: 'store_unavailable',
      cause: { message: 'the table payments cannot be written: canceling statement due to lock timeout' },
    });
    await release();
    await answered;
    await store.check();
  },
);

t.test('serves on after the server has cut its connections', async (t) => {
  const { database, rows } = shared;
  const store = await openHere(t, database);
  await store.claim(sampleFacts('before'), claimAt(1));
  await rows(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  // Each of its connections may be found out by one who asks.
  let found: unknown;
  for (let time = 0; time < MANY && !found; time += 1) {
    found = await store.find('before').catch((error: Problem) => t.equal(error.code, 'store_unavailable') && undefined);
  }
  t.match(found, { state: 'claimed' });
});

t.test('goes by the clock of the server', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1 });
  const store = await openHere(t, shared.database).finally(() => mock.timers.reset());
  t.ok(Math.abs(store.now() - Date.now()) < 60_000);
  await store.check();
  t.ok(Math.abs(store.now() - Date.now()) < 60_000);
});

t.test('leaves nothing to be done by a server that it waits for no more', async (t) => {
  const { database, rows, lock } = await emptyDatabase(t);
  const store = await openHere(t, database);
  const release = await lock('LOCK TABLE payments');
  const asked = [store.find('one'), store.claim(sampleFacts('one'), claimAt(1))];
  for (const one of await Promise.allSettled(asked)) {
    t.match(one, { status: 'rejected', reason: { code: 'store_unavailable' } });
  }
  const waits = `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  // One that began a second later to count than its caller gives up later.
  const until = performance.now() + 30_000;
  while ((await rows(waits)).length > 0 && performance.now() < until) await delay(20);
  t.same(await rows(waits), []);
  await release();
});

t.test('waits for no machine that has vanished in the middle of a transaction', async (t) => {
  const { database, lock, waiting } = await emptyDatabase(t);
  const store = await openHere(t, database);
  await addFunded(store, 1_000n);
  const cable = await startCable(t, database);
  const vanished = await openHere(t, cable.url);
  const release = await lock('SELECT * FROM api_keys FOR UPDATE');
  const lost = t.rejects(vanished.credits.hold(sampleHold('lost', 600n)), { code: 'store_unavailable' });
  await waiting();
  cable.cut();
  await release();
  t.match(await store.credits.hold(sampleHold('call', 600n)), { held: true });
  await lost;
  t.match(await keyOf(store), { balance: 400n, held: 600n });
});

/** A database as an older release has left it. */
async function olderDatabase(t: Test, { version, write }: (typeof upgrades)[number]) {
  const older = await emptyDatabase(t);
  const written: string[] = [];
  await write(postgresDialect, async (sql) => written.push(sql));
  written.push('CREATE TABLE turnpike_schema (version INTEGER NOT NULL PRIMARY KEY)');
  written.push(`INSERT INTO turnpike_schema VALUES (${version})`);
  await older.rows(written.join(';'));
  return older;
}

for (const upgrade of upgrades) {
  t.test(upgrade.what, async (t) => {
    const { database } = await olderDatabase(t, upgrade);
    await upgrade.isKept(t, await openHere(t, database));
  });
}

t.test('brings no older release to a halt behind whoever reads what is to be changed', async (t) => {
  const [upgrade] = upgrades;
  if (!upgrade) throw new Error('nothing is upgraded');
  const { database, rows, lock, waiting } = await olderDatabase(t, upgrade);
  // As `pg_dump` does, until it has written everything.
  const release = await lock('LOCK TABLE payments IN ACCESS SHARE MODE');
  const opened = openPostgresStore(database);
  const refused = t.rejects(opened, { name: 'StoreProblem', message: /pg_dump/ });
  // It may have given up before anybody looks.
  await Promise.race([waiting(), refused]);
  // So long an older release waits.
  await rows('SET lock_timeout TO 9000');
  await t.resolves(rows('SELECT count(*) FROM payments'));
  await release();
  await refused;
  await opened.then(
    (store) => store.close(),
    () => undefined,
  );
  await upgrade.isKept(t, await openHere(t, database));
});

t.test('refuses a database that cannot keep every letter, and leaves it as it is', async (t) => {
  await asSuperuser("CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0");
  const western = new URL(url);
  western.pathname = '/western';
  await t.rejects(openPostgresStore(western.href), {
    name: 'StoreProblem',
    message: /its encoding is LATIN1.*ENCODING 'UTF8'/,
  });
  const client = await connect(western.href);
  t.teardown(() => client.end());
  t.same((await client.query("SELECT to_regclass('turnpike_schema') AS made")).rows, [{ made: null }]);
});

t.test('says what to do when the database comes from a newer release', async (t) => {
  const { database, rows } = await emptyDatabase(t);
  await rows('CREATE TABLE turnpike_schema (version INTEGER); INSERT INTO turnpike_schema VALUES (9999)');
  await t.rejects(openPostgresStore(database), { message: /9999.*newer release/ });
});

t.test('leaves a database of an earlier release as it is where it is not to be brought up to date', async (t) => {
  const { database, rows } = await emptyDatabase(t);
  await (await openPostgresStore(database, { upgrades: false })).close();
  await rows(`DELETE FROM turnpike_schema WHERE version = ${schemaVersion}`);
  await t.rejects(openPostgresStore(database, { upgrades: false }), {
    name: 'StoreProblem',
    message: /of an earlier release.*start the gateway of this one first/,
  });
  t.same(await rows('SELECT max(version) AS version FROM turnpike_schema'), [{ version: schemaVersion - 1 }]);
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

// The last of all: whoever looks on is cut off, too.
t.test('refuses while the server is gone, whatever was under way, and serves on when it is back', async (t) => {
  const { database, lock, waiting } = shared;
  const store = await openHere(t, database);
  await store.claim(sampleFacts('under way'), claimAt(1));
  await lock('SELECT * FROM payments FOR UPDATE');
  const underWay = Promise.allSettled([
    store.claim(sampleFacts('under way'), claimAt(20)),
    store.giveUp({ id: 'under way', attempt: 1 }, 'released', 'none', 20),
  ]);
  await waiting(2);
  const resume = await interrupt();
  const unavailable = { code: 'store_unavailable', status: 503, headers: { 'retry-after': /\d/ } };
  for (const ended of await underWay) t.match(ended, { status: 'rejected', reason: unavailable });
  await t.rejects(store.find('under way'), unavailable);
  await t.rejects(store.claim(sampleFacts('during'), claimAt(1)), unavailable);
  await resume();
  t.match(await store.find('under way'), { state: 'claimed', attempt: 1 });
  t.match(await store.claim(sampleFacts('after'), claimAt(1)), { won: true });
});
