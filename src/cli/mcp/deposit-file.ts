/**
 * Where the channels of one account are kept. One process has the file at a time: the operating system lets go of it when the
 * process ends, however it ends.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { DepositStore } from '../../client/kept-channels.ts';
import { codeOf } from '../../error-code.ts';

const isTaken = (error: unknown): boolean => String(codeOf(error)).startsWith('SQLITE_BUSY');

export interface DepositFile extends DepositStore {
  /** Lets go of it: another process may have it. */
  close(): void;
}

/** Undefined while another process has it. Throws where the file cannot be made. */
export function openDepositFile(directory: string, account: string): DepositFile | undefined {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const database = new Database(join(directory, `deposits-${account.toLowerCase()}.db`));
  try {
    // What is locked once stays locked.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL');
    database.exec(
      'BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL); COMMIT',
    );
  } catch (error) {
    database.close();
    if (isTaken(error)) return undefined;
    throw error;
  }
  const find = database.prepare('SELECT text FROM kept WHERE id = 1');
  const keep = database.prepare(
    'INSERT INTO kept (id, text) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text',
  );
  return {
    read: async () => (find.get() as { text: string } | undefined)?.text,
    write: async (text) => {
      keep.run(text);
    },
    close: () => {
      // A database is open for as long as its statements are: the lock would outlast it.
      database.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM kept');
      database.close();
    },
  };
}
