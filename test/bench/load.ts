/** Callers, in a process of their own so that they do not take turns with a server's event loop. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface LoadJob {
  /** Origins of the servers: callers take them in turns. */
  readonly urls: readonly string[];
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How each call is paid, by the first offer of the 402; left out: not at all. `mcp` calls the tool, and pays it by x402. */
  readonly payment?: 'x402' | 'mpp' | 'mcp' | 'channel';
  readonly tool?: string;
  /** Every x402 payment is of another payer; left out: each caller has its own, who pays again and again. */
  readonly strangers?: boolean;
  /** Keys with money, one for each caller; left out: nobody signs. */
  readonly wallets?: readonly string[];
  /** What is asked for the offer, where that is not what is called with. */
  readonly offered?: string;
  /** One payment for all calls; left out: one of its own for each. */
  readonly replays?: boolean;
  /** Each has a connection and one request under way. */
  readonly callers: number;
  /** It ends when this much time has passed, or as soon as this many requests have been answered. */
  readonly milliseconds: number;
  readonly requests: number;
  readonly expects: number;
  /** Where a call's time ends. */
  readonly until?: 'first byte' | 'last byte';
}

export interface LoadResult {
  readonly requests: number;
  readonly milliseconds: number;
  /** Milliseconds of one call. */
  readonly p50: number;
  readonly p99: number;
}

export interface Load {
  /** One job at a time. Throws when an answer has another status than the expected one. */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

export type LoadAnswer = { readonly result: LoadResult } | { readonly problem: string };

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('load-worker.ts', import.meta.url)), { execArgv: ['--import=tsx'] });

  async function run(job: LoadJob): Promise<LoadResult> {
    const ended = new AbortController();
    const end = () => ended.abort();
    child.once('exit', end);
    try {
      child.send(job);
      const [answer] = (await once(child, 'message', { signal: ended.signal })) as [LoadAnswer];
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.result;
    } finally {
      child.off('exit', end);
    }
  }

  return { run, stop: () => void child.kill() };
}
