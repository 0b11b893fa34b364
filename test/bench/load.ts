/** Callers, in a process of their own so that they do not take turns with a server's event loop. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface LoadJob {
  /** Origin of the server. */
  readonly url: string;
  readonly path: string;
  readonly body: string;
  /** Called over the Model Context Protocol under this name, with the body as its arguments. */
  readonly tool?: string;
  /** Each has a connection and one request under way. */
  readonly callers: number;
  /** It ends when this much time has passed, or as soon as this many requests have been answered. */
  readonly milliseconds: number;
  readonly requests: number;
  /** 402 for calls without a payment; 200 for calls that each carry one of their own. */
  readonly expects: 402 | 200;
}

export interface LoadResult {
  readonly requests: number;
  readonly milliseconds: number;
}

/** Calls one after the other, in turns between the targets. */
export interface TimingJob {
  readonly targets: readonly { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
  readonly body: string;
  /** For each target. */
  readonly times: number;
}

/** Medians in milliseconds, in the order of the targets. */
export type TimingResult = readonly { readonly firstByte: number; readonly whole: number }[];

export interface Load {
  /** One job at a time. Throws when an answer has another status than the expected one. */
  run(job: LoadJob): Promise<LoadResult>;
  time(job: TimingJob): Promise<TimingResult>;
  stop(): void;
}

export type LoadAnswer<Result> = { readonly result: Result } | { readonly problem: string };

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('load-worker.ts', import.meta.url)), { execArgv: ['--import=tsx'] });

  async function ask<Result>(job: LoadJob | TimingJob): Promise<Result> {
    const ended = new AbortController();
    const end = () => ended.abort();
    child.once('exit', end);
    try {
      child.send(job);
      const [answer] = (await once(child, 'message', { signal: ended.signal })) as [LoadAnswer<Result>];
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.result;
    } finally {
      child.off('exit', end);
    }
  }

  return { run: ask<LoadResult>, time: ask<TimingResult>, stop: () => void child.kill() };
}
