/** Commands of the project, several of them in one process: most take longer to load than to run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { wordsFor } from './words-for.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What the process is told. */
export interface Order {
  readonly file: string;
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** What is printed behind everything else, to both. */
  readonly end: string;
}

/** `npm run <name> -- <words>` in this environment alone. Not for `--help` and others that end their process. */
type RunCommand = (name: string, words?: readonly string[], environment?: Order['environment']) => Promise<Ran>;

interface Host {
  readonly child: ChildProcess;
  /** Rejects. */
  readonly ended: Promise<never>;
}

function openHost(): Host {
  const child = spawn(process.execPath, wordsFor('test/command-host.ts'), {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process of the commands has ended with ${code ?? signal}`);
  });
  ended.catch(() => undefined);
  return { child, ended };
}

function printedUpTo(end: string, stream: Readable | null): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    const add = (more: string) => {
      text += more;
      if (!text.endsWith(end)) return;
      stream?.off('data', add);
      resolve(text.slice(0, -end.length));
    };
    stream?.setEncoding('utf8').on('data', add);
  });
}

async function obey({ child, ended }: Host, order: Omit<Order, 'end'>): Promise<Ran> {
  const end = `\0${randomUUID()}\0`;
  const printed = [child.stdout, child.stderr].map((stream) => printedUpTo(end, stream));
  const answered = once(child, 'message');
  child.send({ ...order, end } satisfies Order);
  const done = Promise.all([answered, ...printed] as const);
  const [[code], out = '', err = ''] = await Promise.race([done, ended]);
  return { code, out, err };
}

export function openCommands(t: Test): RunCommand {
  let host: Host | undefined;
  let last: Promise<unknown> = Promise.resolve();
  t.teardown(async () => {
    await last;
    host?.child.disconnect();
    await host?.ended.catch(() => undefined);
  });
  return (name, words = [], environment = {}) => {
    const file = wordsFor(`src/cli/${name}.ts`).at(-1) ?? '';
    const ran = last.then(() => {
      host ??= openHost();
      return obey(host, { file, words, environment: { PATH: process.env.PATH ?? '', ...environment } });
    });
    last = ran.catch(() => undefined);
    return ran;
  };
}
