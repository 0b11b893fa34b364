import { createHash } from 'node:crypto';
import pg from 'pg';
import { openUnderWay } from '../../under-way.ts';
import { migrationsFrom, postgresDialect } from '../migrations/migrations.ts';
import { reasonOf, StoreProblem, storeUnavailable } from '../problem.ts';
import type { Store } from '../store.ts';
import { type Opening, storeOn } from '../store-on.ts';
import { type DatabaseClock, openDatabaseClock } from './database-clock.ts';
import { demandEncoding, demandRights, demandWrites } from './demands.ts';
import type { Engine } from './engine.ts';
import type { Outlives } from './grouped-commit.ts';
import { demandUnlocked } from './locked.ts';
import type { Row, Statement } from './statement.ts';
import type { Outcome, Steps } from './steps.ts';

/** Held while the schema is brought up to date: instances that start together do it one after the other. */
const MIGRATION_LOCK = 4_020_402;

/**
 * How long a change of the schema waits for those who use a table: all who come after it wait behind it, the instances of the
 * release before as well. Shorter than they wait, and longer than any of their transactions takes.
 */
const MIGRATION_PATIENCE_MS = 3_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';

/** A database that is gone becomes an error instead of a caller who waits for ever. */
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;

/**
 * A server does not see that whoever waits for a lock there has left: each such wait would keep a connection, until there are
 * no others. So the server gives it up first. No longer statements: one that waits for a standby is committed by its giving up.
 */
const LOCK_TIMEOUT_MS = 9_000;

/** Of a machine that vanished it hears after two hours: so long what its transaction had locked would be locked for all. */
const PAUSE_TIMEOUT_MS = 5_000;

/** SQLSTATE classes by which the database says that a statement, or what it holds, is wrong: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const OUR_MISTAKES: ReadonlySet<string> = new Set(['0A', '21', '22', '23', '42']);

const IN_USE =
  'The Postgres database cannot be brought up to date while somebody else reads or writes a table for long, as pg_dump does: ' +
  'nothing was changed, start again when that is over';

/**
 * What a server says of a statement that was planned on another connection, or by another on this one: nothing of it was
 * carried out.
 */
const NOT_PLANNED_HERE: ReadonlySet<string> = new Set(['26000', '42P05']);

/** A right that was taken away may be given back, and nothing of the statement was carried out. */
const INSUFFICIENT_PRIVILEGE = '42501';

const CLOCK: Statement = {
  text: 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now',
  values: [],
  isPlannedOnce: true,
};

/** Ten with the one that looks whether the database can be used: it says so where all others wait for a lock. */
const CALLS_CONNECTIONS = 9;

function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    // What need not be waited for goes to the server behind what is.
    pipeline: true,
  });
  // A lost connection says so to whoever waits for an answer on it, and the next query opens another. What it tells the
  // pool (idle) or itself (in use) besides would end the process if nobody listened.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    // A plan that is made once may be made while a table is empty, where to read all of it looks cheapest, and stays.
    client.query('SET enable_seqscan TO off').catch(() => {});
    // A statement by itself begins no transaction that says so, and any other level refuses what two write at the same moment.
    client.query("SET default_transaction_isolation TO 'read committed'").catch(() => {});
    client.query(`SET lock_timeout TO ${LOCK_TIMEOUT_MS}`).catch(() => {});
    client.query(`SET idle_in_transaction_session_timeout TO ${PAUSE_TIMEOUT_MS}`).catch(() => {});
  });
  return pool;
}

/**
 * The store in a Postgres database, which any number of instances share. `url` is `postgres://user:password@host/name`.
 * Rejects with StoreProblem when the database cannot be reached, may not be written or comes from another release.
 */
export async function openPostgresStore(url: string, { log, upgrades }: Opening = {}): Promise<Store> {
  const pool = openPool(url, CALLS_CONNECTIONS);
  const watch = openPool(url, 1);
  const endBoth = () => Promise.all([pool.end(), watch.end()]);
  const ask = (statement: Statement) => query(pool, statement);
  let clock: DatabaseClock;
  try {
    await migrate(url, upgrades);
    await tryPlans(pool);
    clock = await openDatabaseClock(async () => Number((await ask(CLOCK)).rows[0]?.now));
  } catch (error) {
    await endBoth();
    if (error instanceof StoreProblem) throw error;
    // Without the cause: what it carries may hold the URL and so the password.
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) throw new StoreProblem(IN_USE);
    throw new StoreProblem(`The Postgres database cannot be used: ${reasonOf(error)}. ${wayOutOf(error)}`);
  }

  const underWay = openUnderWay();
  let closing: Promise<void> | undefined;

  function start<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing) return Promise.reject(new Error('The store is closed'));
    return underWay.add(work());
  }

  /** A pool that ends forgets who still waits for a connection, so all of them are served first. */
  async function finish(): Promise<void> {
    await underWay.idle();
    await endBoth();
  }

  const engine: Engine = {
    rowLock: 'FOR UPDATE',
    among: (place) => `= ANY (ARRAY(SELECT json_array_elements_text(${place}::json)))`,
    now: () => clock.now(),
    check: () =>
      start(async () => {
        await demandRights((statement) => query(watch, statement), true);
        await demandUnlocked((steps) => inTransaction(watch, steps()));
        await clock.read();
      }),
    read: (statement) => start(async () => (await ask(statement)).rows),
    write: (statement) => start(() => ask(statement)),
    transact: (steps, outlives) => start(() => inTransaction(pool, steps(), outlives)),
    close() {
      closing ??= finish();
      return closing;
    },
  };
  return storeOn(engine, log);
}

/** What Node says of a certificate whose authority it does not know, as most hosted databases have. */
const UNKNOWN_AUTHORITY: ReadonlySet<string | undefined> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const wayOutOf = (error: unknown): string =>
  UNKNOWN_AUTHORITY.has((error as NodeJS.ErrnoException).code)
    ? "Name the file of its authority's certificate in DATABASE_URL: ?sslmode=verify-full&sslrootcert=<file>"
    : 'Check DATABASE_URL';

/** False where a pooler lends a connection of the server's for a transaction alone, and keeps no plans. */
let arePlansKept = true;

/** Of statements that are planned once: by their text, the name by which a connection knows them again. */
const names = new Map<string, string>();

/** The same in every process: behind a pooler a connection may know a name from another. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `turnpike_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
}

/** Before anybody pays: a pooler that keeps no plans lends the second connection what the first has planned on. */
async function tryPlans(pool: pg.Pool): Promise<void> {
  const first = await pool.connect();
  try {
    await query(first, CLOCK);
    await query(pool, CLOCK);
  } catch (error) {
    if (arePlansKept) throw error;
  } finally {
    first.release();
  }
}

/** Planned once, the statements of a payment are a fifth faster; what is known of its payer, a quarter of the server's time. */
async function query(client: pg.Pool | pg.ClientBase, { text, values, isPlannedOnce }: Statement): Promise<Outcome> {
  const name = isPlannedOnce && arePlansKept ? { name: nameOf(text) } : {};
  const asked = { text: text.replaceAll('?', '$'), values: [...values], ...name };
  const result = await orUnavailable(client.query<Row>(asked));
  return { rows: result.rows, changes: result.rowCount ?? 0 };
}

/** Throws Problem `store_unavailable` unless the fault is ours: a lost connection, a server that starts or ends, a full disk. */
async function orUnavailable<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    const code = (error instanceof pg.DatabaseError && error.code) || '';
    const isUnplanned = NOT_PLANNED_HERE.has(code);
    if (isUnplanned) arePlansKept = false;
    const isOurs = OUR_MISTAKES.has(code.slice(0, 2)) && !isUnplanned && code !== INSUFFICIENT_PRIVILEGE;
    throw isOurs ? error : storeUnavailable(reasonOf(error));
  }
}

const NOTHING: Outcome = { rows: [], changes: 0 };

/** `send` takes what nobody waits for. */
async function runSteps<Result>(
  steps: Steps<Result>,
  client: pg.ClientBase,
  send: (asked: Promise<unknown>) => void,
): Promise<Result> {
  let next = steps.next();
  while (!next.done) {
    const asked = query(client, next.value);
    if (next.value.isUnwatched) send(asked);
    next = steps.next(next.value.isUnwatched ? NOTHING : await asked);
  }
  return next.value;
}

/**
 * Row locks show the newest committed row only at this isolation level, whatever the database's default is. A claim waits
 * for the server three times in place of five: its statements are carried out in their order all the same, and a `COMMIT`
 * behind one that failed rolls back. Measured with a database two milliseconds away: 1.4 times the payments a second.
 */
async function inTransaction<Result>(
  pool: pg.Pool,
  steps: Steps<Result>,
  outlives: Outlives = 'power',
): Promise<Result> {
  const client = await orUnavailable(pool.connect());
  const sent: Promise<unknown>[] = [];
  const send = (asked: Promise<unknown>) => {
    // Looked at below, unless what was waited for has failed before.
    asked.catch(() => {});
    sent.push(asked);
  };
  try {
    const patience = outlives === 'power' ? '' : '; SET LOCAL synchronous_commit TO OFF';
    send(orUnavailable(client.query(`BEGIN ISOLATION LEVEL READ COMMITTED${patience}`)));
    const result = await runSteps(steps, client, send);
    send(orUnavailable(client.query('COMMIT')));
    await Promise.all(sent);
    client.release();
    return result;
  } catch (error) {
    // Closing the connection rolls back, also where the connection itself is what failed.
    client.release(true);
    throw error;
  }
}

/** On a connection of its own, where a step may take its time: it may have to read all there is. */
async function migrate(url: string, upgrades: boolean | undefined): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  client.on('error', () => {});
  const ask = (statement: Statement) => query(client, statement);
  const sells = upgrades !== false;
  await client.connect();
  try {
    await demandEncoding(ask);
    await demandRights(ask, sells);
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await client.query(`SET LOCAL idle_in_transaction_session_timeout TO ${PAUSE_TIMEOUT_MS}`);
    await bringUpToDate(client, upgrades);
    await client.query('COMMIT');
    if (sells) await demandWrites(ask);
  } finally {
    await client.end();
  }
}

/** 0 where there is none yet. */
async function versionOf(client: pg.ClientBase): Promise<number> {
  const found = await client.query("SELECT to_regclass('turnpike_schema') IS NOT NULL AS is_there");
  if (!found.rows[0]?.is_there) return 0;
  const { rows } = await client.query<{ version: number }>(
    'SELECT COALESCE(max(version), 0) AS version FROM turnpike_schema',
  );
  return rows[0]?.version ?? 0;
}

/** Writes nothing where there is nothing to change: who uses the tables need not own them, and a standby may be read. */
async function bringUpToDate(client: pg.ClientBase, upgrades: boolean | undefined): Promise<void> {
  const found = await versionOf(client);
  if (found > 0 && migrationsFrom(found, postgresDialect, upgrades).length === 0) return;
  // Whoever makes the schema may take long; behind a pooler a connection has what stores have set.
  await client.query('SET LOCAL lock_timeout TO 0');
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(`SET LOCAL lock_timeout TO ${MIGRATION_PATIENCE_MS}`);
  await client.query('CREATE TABLE IF NOT EXISTS turnpike_schema (version INTEGER NOT NULL PRIMARY KEY)');
  let version = await versionOf(client);
  for (const migration of migrationsFrom(version, postgresDialect, upgrades)) {
    if (typeof migration === 'string') await client.query(migration);
    else await runSteps(migration(), client, () => {});
    version += 1;
    await client.query('INSERT INTO turnpike_schema (version) VALUES ($1)', [version]);
  }
}
