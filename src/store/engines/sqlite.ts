import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'libsql';
import { codeOf } from '../../error-code.ts';
import { makeDirectory } from '../../made-directory.ts';
import { migrationsFrom, schemaVersion, sqliteDialect } from '../migrations/migrations.ts';
import { reasonOf, StoreProblem, storeUnavailable } from '../problem.ts';
import type { Store } from '../store.ts';
import { type Opening, storeOn } from '../store-on.ts';
import type { Engine } from './engine.ts';
import { groupedCommit } from './grouped-commit.ts';
import { makePrivateFile } from './private-file.ts';
import type { Row, Statement } from './statement.ts';
import type { Outcome, Steps } from './steps.ts';

/** Another process holds the file only for the length of its transactions, so this long means that it hangs. */
const BUSY_TIMEOUT_MS = 5_000;

/** Result codes by which SQLite says that a statement, or what it holds, is wrong: https://www.sqlite.org/rescode.html */
const OUR_MISTAKES = /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|MISUSE|RANGE|TOOBIG)/;

/** The identities of payments are random, so every claim touches pages of its own. Measured with `LOG_PAGES`: 6 % of a claim's time. */
const CACHE_KIB = 16_000;

/** A log of 16 MB: a page that changes often is copied into the file less often. */
const LOG_PAGES = 4_000;

export interface SqliteOptions extends Opening {
  /** The clock of all who share the file: they are on one machine. */
  readonly now?: () => number;
}

/**
 * The store in one file, which processes on one machine may share. Parent folders are made; `:memory:` keeps nothing.
 * Works in the thread that calls it, which waits for the disk: see `sqlite-thread.ts`. Throws StoreProblem when the file
 * cannot be opened or comes from another release.
 */
export function openSqliteStore(file: string, { now = Date.now, log, upgrades }: SqliteOptions = {}): Store {
  const path = file === ':memory:' ? file : resolve(file);
  const database = openDatabase(path, upgrades);
  const inode = inodeOf(path);
  const { run: commit, flush } = groupedCommit(database);
  const prepared = new Map<string, ReturnType<Database.Database['prepare']>>();

  function prepare(text: string) {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = database.prepare(text);
      prepared.set(text, statement);
    }
    return statement;
  }

  const step = (statement: Statement): Outcome => run(prepare(statement.text), statement);

  async function start<Result>(work: () => Promise<Result>): Promise<Result> {
    // libsql goes on serving statements that were prepared before the database was closed.
    if (!database.open) throw new Error('The store is closed');
    return orUnavailable(work());
  }

  function demandThere(): void {
    if (inodeOf(path) !== inode) throw storeUnavailable(goneFrom(path));
  }

  const engine: Engine = {
    rowLock: '',
    among: (place) => `IN (SELECT value FROM json_each(${place}))`,
    now,
    check: async () => demandThere(),
    read: (statement) => start(async () => step(statement).rows),
    write: (statement) => start(() => commit(() => step(statement))),
    transact: (steps, outlives) => start(() => commit(() => runSteps(steps(), step), outlives)),
    async close() {
      if (!database.open) return;
      flush();
      database.close();
    },
  };
  const store = storeOn(engine, log);
  const { claim } = store;
  const { hold } = store.credits;
  return {
    ...store,
    // What has begun goes on, so that its payer has its answer at least: nothing begins that nobody could look up.
    async claim(...asked) {
      demandThere();
      return claim(...asked);
    },
    credits: {
      ...store.credits,
      async hold(request) {
        demandThere();
        return hold(request);
      },
    },
  };
}

/** Which file has the name now; undefined where none has, or where all is in memory. Throws Problem `store_unavailable`. */
function inodeOf(path: string): bigint | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
  } catch (error) {
    throw storeUnavailable(reasonOf(error));
  }
}

/** SQLite itself looks for that where it keeps no log, and else goes on with a file that nobody can open any more. */
const goneFrom = (path: string): string =>
  `${path} was taken away or replaced: put it back before this process ends, or what it writes now is lost`;

/** Throws Problem `store_unavailable` unless the fault is ours: another writer, a full disk, a damaged file. */
async function orUnavailable<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || OUR_MISTAKES.test(error.code)) throw error;
    throw storeUnavailable(`${error.code}: ${error.message}`);
  }
}

function run(prepared: ReturnType<Database.Database['prepare']>, statement: Statement): Outcome {
  const values = checked(statement);
  return prepared.reader
    ? { rows: prepared.all(values) as Row[], changes: 0 }
    : { rows: [], changes: prepared.run(values).changes };
}

function runSteps<Result>(steps: Steps<Result>, step: (statement: Statement) => Outcome): Result {
  let next = steps.next();
  while (!next.done) next = steps.next(step(next.value));
  return next.value;
}

/** libsql cuts text off at a NUL without a word, which would make two identifiers one. */
function checked(statement: Statement): (string | number | null)[] {
  for (const value of statement.values) {
    if (typeof value === 'string' && value.includes('\0')) {
      throw new Error('A text for the database contains a NUL character, which it cannot hold');
    }
  }
  return [...statement.values];
}

function openDatabase(path: string, upgrades: boolean | undefined): Database.Database {
  try {
    if (path !== ':memory:') {
      makeDirectory(dirname(path));
      makePrivateFile(path);
    }
    const database = new Database(path);
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    inItsTurn(() => database.exec('PRAGMA journal_mode = WAL'));
    database.exec('PRAGMA synchronous = FULL');
    database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    database.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
    migrate(database, upgrades);
    return database;
  } catch (error) {
    throw new StoreProblem(`The database file ${path} cannot be used: ${reasonOf(error)}${wayOutOf(error)}`, {
      cause: error,
    });
  }
}

/** libsql has no code for a file that it cannot open, and names SQLite's at the end of a sentence. */
const SHUT = /^(SQLITE_(CANTOPEN|READONLY)|EACCES|EPERM|EROFS|ConnectionFailed\(.*: 14"\)$)/;

/** The second is said of the memory that is shared with others who have the file open, and grows in a file as well. */
const FULL = /^SQLITE_(FULL|IOERR_SHMSIZE)$/;

/** What to do on a full disk, and where the system does not let the file be written, or its log beside it, as after another user restored them. */
function wayOutOf(error: unknown): string {
  if (FULL.test(`${codeOf(error)}`)) {
    return '. Make room on its disk, or set TURNPIKE_DATA to a directory on another';
  }
  if (!SHUT.test(`${codeOf(error) || reasonOf(error)}`)) return '';
  return '. Let the user that runs this write its directory and what is in there, or set TURNPIKE_DATA to another one';
}

/**
 * Tries again for as long as others are busy with the file. SQLite itself does not wait where two that hold a lock for
 * reading both want to write, as those do that open a new file at the same time.
 */
function inItsTurn(act: () => void): void {
  const until = Date.now() + BUSY_TIMEOUT_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      act();
      return;
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || Date.now() > until) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

function migrate(database: Database.Database, upgrades: boolean | undefined): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const [row] = database.pragma('user_version') as { user_version: number }[];
    for (const migration of migrationsFrom(row?.user_version ?? 0, sqliteDialect, upgrades)) {
      if (typeof migration === 'string') database.exec(migration);
      else runSteps(migration(), (statement) => run(database.prepare(statement.text), statement));
    }
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
    database.exec('COMMIT');
  } catch (error) {
    // On a full disk SQLite has given it up by itself, and would say that alone.
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
