/** Whether the data directory takes more: payments, files and what is checked once are written there. */
import { accessSync, constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigProblem } from '../environment.ts';
import { codeOf, isWithoutRoom } from '../error-code.ts';
import type { Log } from '../log.ts';
import { makeDirectory } from '../made-directory.ts';
import type { KeptConfig } from './config.ts';

/** Less free space than that is too little for the largest file that a call brings, and what the database writes. */
const LEAST_FREE_BYTES = 64 * 1024 * 1024;

export interface Disk {
  /** Why nothing more can be written, in words for everybody; undefined: it can. */
  fault(): string | undefined;
  /** Looks again. Never throws. */
  check(): Promise<void>;
}

type Kept = Pick<KeptConfig, 'dataDirectory' | 'mediaBucket'>;

/** Where files are kept, unless a bucket has them: often a mount of its own, which several machines share. */
export const mediaIn = (dataDirectory: string): string => join(dataDirectory, 'media');

const writtenIn = ({ dataDirectory, mediaBucket }: Kept): string[] =>
  mediaBucket ? [dataDirectory] : [dataDirectory, mediaIn(dataDirectory)];

/** Makes the data directory where there is none. Throws ConfigProblem where nothing may be written there. */
export function makeDataDirectory(kept: Kept): void {
  const { dataDirectory } = kept;
  for (const directory of writtenIn(kept)) {
    try {
      makeDirectory(directory);
      accessSync(directory, constants.W_OK);
    } catch (error) {
      if (isWithoutRoom(error)) throw error;
      const code = String(codeOf(error) ?? error);
      const isFile = code === 'EEXIST' || code === 'ENOTDIR';
      const which = directory === dataDirectory ? 'which' : `of which ${directory}`;
      const fault = `${which} ${isFile ? 'is no directory' : `cannot be written (${code})`}`;
      throw new ConfigProblem([`TURNPIKE_DATA is ${dataDirectory}, ${fault}: give this user a directory of its own`]);
    }
  }
}

/** Bytes that may still be written below the directory. */
async function freeBelow(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

interface Found {
  readonly fault: string | undefined;
  /** For the log. */
  readonly details: object;
}

/** `free`: tests set it. */
export function watchDisk(kept: Kept, log: Log, free: typeof freeBelow = freeBelow): Disk {
  const { dataDirectory } = kept;
  let fault: string | undefined;

  async function look(directory: string): Promise<Found> {
    const which = directory === dataDirectory ? 'the data directory' : 'the media folder of the data directory';
    try {
      await access(directory, constants.W_OK);
      const freeBytes = await free(directory);
      const isFull = freeBytes < LEAST_FREE_BYTES;
      return { fault: isFull ? `the disk of ${which} has less than 64 MB left` : undefined, details: { freeBytes } };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { fault: `${which} cannot be written`, details: { reason } };
    }
  }

  function become({ fault: found, details }: Found): void {
    if (found === fault) return;
    fault = found;
    if (found === undefined) log.info({ directory: dataDirectory }, 'the data directory can be written again');
    else log.error({ directory: dataDirectory, ...details }, found);
  }

  return {
    fault: () => fault,
    async check() {
      const all = await Promise.all(writtenIn(kept).map(look));
      become(all.find((found) => found.fault !== undefined) ?? { fault: undefined, details: {} });
    },
  };
}
