import type { SqliteOptions } from './sqlite.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends SqliteOptions {
  readonly databaseUrl?: string;
  readonly file: string;
}

/** Postgres where `databaseUrl` is given, else SQLite in `file`. Only the engine in use is loaded. */
export async function openStore({ databaseUrl, file, ...options }: StoreOptions): Promise<Store> {
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import('./postgres.ts');
    return openPostgresStore(databaseUrl, options.log);
  }
  if (file === ':memory:') {
    const { openSqliteStore } = await import('./sqlite.ts');
    return openSqliteStore(file, options);
  }
  const { startSqliteThread } = await import('./sqlite-thread.ts');
  const thread = startSqliteThread(options);
  const store = await thread.open(file);
  return {
    ...store,
    async close() {
      await store.close();
      await thread.stop();
    },
  };
}
