/** Where a gateway that runs on a data directory is found by commands: `gateway.json` there. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigProblem } from '../environment.ts';
import { codeOf, isWithoutRoom } from '../error-code.ts';
import { makeDirectory } from '../made-directory.ts';

export interface Running {
  readonly pid: number;
  /** Where it listens. */
  readonly url: string;
  /** Where several processes answer there: the catalogue that all of them sell. */
  readonly catalogue?: string;
  readonly refused?: Refused;
}

/** Why the catalogue was not loaded when it was last tried, and when that was, in milliseconds since the epoch. */
export interface Refused {
  readonly at: number;
  readonly why: string;
}

const fileIn = (directory: string): string => join(directory, 'gateway.json');

/**
 * Leaves the note; what is returned takes it away, unless another gateway has left its own meanwhile. Throws ConfigProblem
 * where something else has its name.
 */
export function writeRunning(directory: string, running: Running): () => void {
  makeDirectory(directory);
  const file = fileIn(directory);
  const part = `${file}.${running.pid}.part`;
  try {
    writeFileSync(part, JSON.stringify(running));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    if (isWithoutRoom(error)) throw error;
    throw new ConfigProblem([`${file} cannot be written (${codeOf(error)}): take away what has that name`]);
  }
  return () => {
    if (noteIn(directory)?.pid === running.pid) rmSync(fileIn(directory), { force: true });
  };
}

function noteIn(directory: string): Running | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8')) as Running;
  } catch (error) {
    if (codeOf(error) === 'EACCES') throw error;
    return undefined;
  }
}

/** Undefined where none runs: a note may outlive a process that was killed. Throws where this user may not look. */
export function findRunning(directory: string): Running | undefined {
  const running = noteIn(directory);
  try {
    if (running) process.kill(running.pid, 0);
    return running;
  } catch (error) {
    // Another user's.
    return codeOf(error) === 'EPERM' ? running : undefined;
  }
}
