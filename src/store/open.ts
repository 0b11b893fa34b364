import type { SqliteOptions } from './engines/sqlite.ts';
import type { SqliteThread } from './engines/sqlite-thread.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends SqliteOptions {
  readonly databaseUrl?: string;
  readonly file: string;
}

const startThread = async (): Promise<SqliteThread> => (await import('./engines/sqlite-thread.ts')).startSqliteThread();

let ready: Promise<SqliteThread> | undefined;

/**
 * Begins with what the next store in a file waits for, on the other core, while its caller reads the catalogue: a tenth of a
 * gateway's start. No file is opened yet.
 */
export async function prepareStore({ databaseUrl }: Pick<StoreOptions, 'databaseUrl'>): Promise<void> {
  if (databaseUrl !== undefined) return;
  ready ??= startThread();
  await ready;
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
  const starting = ready ?? startThread();
  ready = undefined;
  const thread = await starting;
  const store = await thread.open(file, options);
  return {
    ...store,
    async close() {
      await store.close();
      await thread.stop();
    },
  };
}
