import pg from 'pg';
import t, { type Test } from 'tap';
import { postgresDialect } from '../../src/store/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres.ts';
import { startPostgres } from '../postgres.ts';
import { storeContract } from './contract.ts';
import { keepsOldRows, RELEASED_WITH_HEADERS, writeOldRows } from './migrations.ts';
import { claimAt, sampleFacts } from './samples.ts';

const { url, stop } = await startPostgres();
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

t.test('serves on after the server has cut its connections', async (t) => {
  const database = await emptyDatabase();
  const store = await openHere(t, database);
  await store.claim(sampleFacts('before'), claimAt(1));
  await asSuperuser(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'contract_%'");
  const found = await store.find('before').catch(() => store.find('before'));
  t.match(found, { state: 'claimed' });
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
