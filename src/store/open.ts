import type { Store } from './store.ts';

/** Postgres where `databaseUrl` is given, else SQLite in `file`. Only the engine in use is loaded. */
export async function openStore({ databaseUrl, file }: { databaseUrl?: string; file: string }): Promise<Store> {
  if (databaseUrl === undefined) {
    const { openSqliteStore } = await import('./sqlite.ts');
    return openSqliteStore(file);
  }
  const { openPostgresStore } = await import('./postgres.ts');
  return openPostgresStore(databaseUrl);
}
