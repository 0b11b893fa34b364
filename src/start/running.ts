/** Where a gateway that runs on a data directory is found by commands: `gateway.json` there. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Running {
  readonly pid: number;
  /** Where it listens. */
  readonly url: string;
  /** Where several processes answer there: the catalogue that all of them sell. */
  readonly catalogue?: string;
}

const fileIn = (directory: string): string => join(directory, 'gateway.json');

/** Leaves the note; what is returned takes it away. */
export function writeRunning(directory: string, running: Running): () => void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(fileIn(directory), JSON.stringify(running));
  return () => rmSync(fileIn(directory), { force: true });
}

/** Undefined where none runs: a note may outlive a process that was killed. */
export function findRunning(directory: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(fileIn(directory), 'utf8')) as Running;
    process.kill(running.pid, 0);
    return running;
  } catch {
    return undefined;
  }
}
