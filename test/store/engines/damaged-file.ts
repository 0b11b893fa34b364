import { closeSync, openSync, writeSync } from 'node:fs';
import Database from 'libsql';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { finished } from '../arrivals.ts';

/** A file whose schema is whole, and whose payments nobody can read any more. */
export async function damageFile(file: string): Promise<void> {
  const store = openSqliteStore(file);
  await finished(store, 'lost');
  await store.close();
  const database = new Database(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const [{ page_size: size }] = database.pragma('page_size') as [{ page_size: number }];
  const found = database.prepare(`SELECT rootpage FROM sqlite_master WHERE name = 'payments'`).get();
  database.close();
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(size, 'damage'), 0, size, ((found as { rootpage: number }).rootpage - 1) * size);
  closeSync(handle);
}
