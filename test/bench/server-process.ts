/** Servers that are measured run in processes of their own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export interface ServerProcess {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Bytes that it and its own children hold. */
  residentBytes(): number;
  /** Microseconds of processor time that it and its own children have used so far; undefined where the system does not tell. */
  processorTime(): number | undefined;
  stop(): Promise<void>;
}

/** Several of which callers share, each caller with one of them. */
export interface Servers extends Pick<ServerProcess, 'processorTime'> {
  readonly urls: readonly string[];
}

export const together = (servers: readonly ServerProcess[]): Servers => ({
  urls: servers.map(({ url }) => url),
  processorTime: () => servers.reduce((sum, server) => sum + (server.processorTime() ?? Number.NaN), 0),
});

export interface ServerCommand {
  /** Of node. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory?: string;
}

/** Linux counts in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;
const START_TIMEOUT_MS = 120_000;

/** Starts a server and waits until it prints `ready <url>`. Throws with its output when it does not. */
export async function startServer({ words, environment, directory }: ServerCommand): Promise<ServerProcess> {
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  /** Throws when it has ended by itself. */
  const alive = (): number => {
    const { pid, exitCode, signalCode } = child;
    if (pid !== undefined && exitCode === null && signalCode === null) return pid;
    throw new Error(`node ${words.join(' ')} has ended: ${signalCode ?? exitCode}`);
  };
  try {
    const url = await readyUrl(child, words);
    return {
      url,
      residentBytes: () => residentBytes(alive()),
      processorTime: () => processorTime(alive()),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function readyUrl(child: ChildProcess, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const failed = (why: string) => reject(new Error(`node ${words.join(' ')} ${why}:\n${output.slice(-4000)}`));
    const overdue = setTimeout(() => failed(`was not ready in ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-16_000);
        const [, url] = /^ready (http\S+)$/m.exec(output) ?? [];
        if (url === undefined) return;
        clearTimeout(overdue);
        resolve(url);
      });
    }
    child.once('error', (error) => failed(`did not start (${error.message})`));
    child.once('close', () => {
      clearTimeout(overdue);
      failed('ended');
    });
  });
}

/** A process and its own children, with the kibibytes that each holds. */
function familyOf(root: number): ReadonlyMap<number, number> {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const family = new Map([[root, 0]]);
  // Children come after their parents.
  for (const [pid = 0, parent = 0, resident = 0] of rows) {
    if (family.has(pid) || family.has(parent)) family.set(pid, resident);
  }
  return family;
}

const residentBytes = (root: number): number =>
  [...familyOf(root).values()].reduce((kibibytes, resident) => kibibytes + resident, 0) * 1024;

function processorTime(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  return [...familyOf(root).keys()].reduce((sum, pid) => sum + ownProcessorTime(pid), 0);
}

/** None of a process that has ended meanwhile, like the one that listed them. */
function ownProcessorTime(pid: number): number {
  const file = `/proc/${pid}/stat`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // After the name, which may hold anything: utime and stime are the 12th and 13th fields (proc(5)).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MICROSECONDS;
}
