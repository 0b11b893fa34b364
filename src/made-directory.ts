/** A directory that is there afterwards. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './error-code.ts';

/**
 * Makes a directory, and those above it, where there is none, open to whom `mode` says. Node's own `recursive` goes on for ever where the system says
 * that one above is missing which is there, as it does below /proc.
 */
export function makeDirectory(directory: string, mode = 0o777): void {
  const above = dirname(directory);
  if (above !== directory && !existsSync(above)) makeDirectory(above, mode);
  try {
    mkdirSync(directory, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(directory).isDirectory()) throw error;
  }
}
