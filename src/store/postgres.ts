import pg from 'pg';
import type { Engine } from './engine.ts';
import type { Outlives } from './grouped-commit.ts';
import { migrationsFrom, postgresDialect } from './migrations.ts';
import { StoreProblem } from './problem.ts';
import type { Row, Statement } from './statements.ts';
import type { Outcome, Steps } from './steps.ts';
import type { Store } from './store.ts';
import { storeOn } from './store-on.ts';

/** Held while the schema is brought up to date: instances that start together do it one after the other. */
const MIGRATION_LOCK = 4_020_402;

/** A database that is gone becomes an error instead of a caller who waits for ever. */
const CONNECT_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 30_000;

/**
 * The store in a Postgres database, which any number of instances share. `url` is `postgres://user:password@host/name`.
 * Rejects when the database cannot be reached, may not be written or comes from a newer release.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  });
  // An idle connection was lost: the pool has dropped it, and the next query opens another or says why it cannot.
  pool.on('error', () => {});
  try {
    await inTransaction(pool, migrate);
  } catch (error) {
    await pool.end();
    // Without the cause: what it carries may hold the URL and so the password.
    throw new StoreProblem(`The Postgres database cannot be used: ${reasonOf(error)}. Check DATABASE_URL`);
  }

  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  function start<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing) return Promise.reject(new Error('The store is closed'));
    const result = work();
    running.add(result);
    const done = () => running.delete(result);
    result.then(done, done);
    return result;
  }

  /** A pool that ends forgets who still waits for a connection, so all of them are served first. */
  async function finish(): Promise<void> {
    await Promise.allSettled(running);
    await pool.end();
  }

  const engine: Engine = {
    rowLock: 'FOR UPDATE',
    among: (place) => `= ANY (ARRAY(SELECT json_array_elements_text(${place}::json)))`,
    read: (statement) => start(async () => (await ask(pool, statement)).rows),
    write: (statement) => start(async () => (await ask(pool, statement)).changes),
    transact: (steps, outlives) => start(() => inTransaction(pool, (client) => runSteps(steps(), client), outlives)),
    close() {
      closing ??= finish();
      return closing;
    },
  };
  return storeOn(engine);
}

async function ask(client: pg.Pool | pg.PoolClient, { text, values }: Statement): Promise<Outcome> {
  const result = await client.query<Row>(text.replaceAll('?', '$'), [...values]);
  return { rows: result.rows, changes: result.rowCount ?? 0 };
}

async function runSteps<Result>(steps: Steps<Result>, client: pg.PoolClient): Promise<Result> {
  let next = steps.next();
  while (!next.done) next = steps.next(await ask(client, next.value));
  return next.value;
}

/** Row locks show the newest committed row only at this isolation level, whatever the database's default is. */
async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  outlives: Outlives = 'power',
): Promise<Result> {
  const client = await pool.connect();
  try {
    const patience = outlives === 'power' ? '' : '; SET LOCAL synchronous_commit TO OFF';
    await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED${patience}`);
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // Closing the connection rolls back, also where the connection itself is what failed.
    client.release(true);
    throw error;
  }
}

async function migrate(client: pg.PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query('CREATE TABLE IF NOT EXISTS turnpike_schema (version INTEGER NOT NULL PRIMARY KEY)');
  const { rows } = await client.query<{ version: number }>(
    'SELECT COALESCE(max(version), 0) AS version FROM turnpike_schema',
  );
  let version = rows[0]?.version ?? 0;
  for (const migration of migrationsFrom(version, postgresDialect)) {
    if (typeof migration === 'string') await client.query(migration);
    else await runSteps(migration(), client);
    version += 1;
    await client.query('INSERT INTO turnpike_schema (version) VALUES ($1)', [version]);
  }
}

/** A refused connection to a name with several addresses has no message, only codes. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
