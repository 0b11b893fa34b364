/** Callers, in a process of their own so that they do not take turns with a server's event loop. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface LoadJob {
  /** Origin of the server. */
  readonly url: string;
  readonly path: string;
  readonly body: string;
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

export interface Load {
  /** One job at a time. Throws when an answer has another status than the expected one. */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('load-worker.ts', import.meta.url)), { execArgv: ['--import=tsx'] });
  return {
    async run(job) {
      const ended = new AbortController();
      const end = () => ended.abort();
      child.once('exit', end);
      try {
        child.send(job);
        const [answer] = (await once(child, 'message', { signal: ended.signal })) as [LoadResult | { problem: string }];
        if ('problem' in answer) throw new Error(`${job.url}${job.path}: ${answer.problem}`);
        return answer;
      } finally {
        child.off('exit', end);
      }
    },
    stop: () => void child.kill(),
  };
}
