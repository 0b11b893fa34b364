import type { SqliteOptions } from './engines/sqlite.ts';
import type { SqliteThread } from './engines/sqlite-thread.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends SqliteOptions {
  readonly databaseUrl?: string;
  readonly file: string;
}

let thread: Promise<SqliteThread> | undefined;

/** All files of a process are on one thread, which keeps nobody from the end. */
const sqliteThread = (): Promise<SqliteThread> => {
  thread ??= import('./engines/sqlite-thread.ts').then(({ startSqliteThread }) => startSqliteThread());
  return thread;
};

/**
 * Begins with what the first store in a file waits for, on the other core, while its caller reads the catalogue: a tenth of a
 * gateway's start. No file is opened yet.
 */
export async function prepareStore({ databaseUrl }: Pick<StoreOptions, 'databaseUrl'>): Promise<void> {
  if (databaseUrl === undefined) await sqliteThread();
}

/** Postgres where `databaseUrl` is given, else SQLite in `file`. Only the engine in use is loaded. */
export async function openStore({ databaseUrl, file, ...options }: StoreOptions): Promise<Store> {
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import('./engines/postgres.ts');
    return openPostgresStore(databaseUrl, options);
  }
  if (file === ':memory:') {
    const { openSqliteStore } = await import('./engines/sqlite.ts');
    return openSqliteStore(file, options);
  }
  return (await sqliteThread()).open(file, options);
}
