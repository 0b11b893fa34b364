/** Where the channels of one account are kept. */
import { join } from 'node:path';
import type { DepositStore } from '../../client/kept-channels.ts';
import { makeDirectory } from '../../made-directory.ts';
import { closeLockedDatabase, openLockedDatabase } from './locked-database.ts';

export interface DepositFile extends DepositStore {
  /** Lets go of it: another process may have it. */
  close(): void;
}

/** Undefined while another process has it. Throws where the file cannot be made. */
export function openDepositFile(directory: string, account: string): DepositFile | undefined {
  makeDirectory(directory, 0o700);
  const file = join(directory, `deposits-${account.toLowerCase()}.db`);
  const database = openLockedDatabase(file, 'kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  if (!database) return undefined;
  const find = database.prepare('SELECT text FROM kept WHERE id = 1');
  const keep = database.prepare(
    'INSERT INTO kept (id, text) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text',
  );
  return {
    read: async () => (find.get() as { text: string } | undefined)?.text,
    write: async (text) => {
      keep.run(text);
    },
    close: () => closeLockedDatabase(database),
  };
}
