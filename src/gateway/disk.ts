/** Whether the data directory takes more: payments, files and what is checked once are written there. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { ConfigProblem } from '../environment.ts';
import { codeOf } from '../error-code.ts';
import type { Log } from '../log.ts';

/** Less free space than that is too little for the largest file that a call brings, and what the database writes. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

export interface Disk {
  /** Why nothing more can be written, in words for everybody; undefined: it can. */
  fault(): string | undefined;
  /** Looks again. Never throws. */
  check(): Promise<void>;
}

/** Makes the data directory where there is none. Throws ConfigProblem where nothing can be written there. */
export function makeDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const code = String(codeOf(error) ?? error);
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const fault = isFile ? 'is no directory' : `cannot be written (${code})`;
    throw new ConfigProblem([`TURNPIKE_DATA is ${directory}, which ${fault}: give this user a directory of its own`]);
  }
}

/** Bytes that may still be written below the directory. */
async function freeBelow(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** `free`: tests set it. */
export function watchDisk(directory: string, log: Log, free: typeof freeBelow = freeBelow): Disk {
  let fault: string | undefined;

  function become(found: string | undefined, details: object): void {
    if (found === fault) return;
    fault = found;
    if (found === undefined) log.info({ directory }, 'the data directory can be written again');
    else log.error({ directory, ...details }, found);
  }

  return {
    fault: () => fault,
    async check() {
      try {
        await access(directory, constants.W_OK);
        const freeBytes = await free(directory);
        const isFull = freeBytes < LEAST_FREE_BYTES;
        become(isFull ? 'the disk of the data directory has less than 64 MB left' : undefined, { freeBytes });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        become('the data directory cannot be written', { reason });
      }
    },
  };
}
