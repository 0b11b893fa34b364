import { closeSync, openSync } from 'node:fs';

/**
 * Makes the file of a database that its owner alone can read, and so its log: it has the secret that sold API keys are made
 * of, and the answers that hold them. One that is there keeps its mode.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch {
    // It is there, or SQLite says why it cannot be made.
  }
}
