import Database from 'libsql';
import { codeOf } from '../../error-code.ts';

const isTaken = (error: unknown): boolean => String(codeOf(error)).startsWith('SQLITE_BUSY');

/**
 * A database that one process has at a time: the operating system lets go of it when the process ends, however it ends.
 * `table`: what it is made with. Undefined while another process has it. Throws where the file cannot be made.
 */
export function openLockedDatabase(file: string, table: string): Database.Database | undefined {
  const database = new Database(file);
  try {
    // What is locked once stays locked.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL');
    database.exec(`BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS ${table}; COMMIT`);
    return database;
  } catch (error) {
    database.close();
    if (isTaken(error)) return undefined;
    throw error;
  }
}

/** Lets go of it: another process may have it. */
export function closeLockedDatabase(database: Database.Database): void {
  // A database is open for as long as its statements are: the lock would outlast it. It goes with the next look at the file.
  database.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema');
  database.close();
}
