/**
 * SQLite on a thread of its own: whoever writes to a disk waits for it, and whoever answers callers must not. A store's
 * methods become messages. What one turn of an event loop asks goes there as one message, is committed together and comes
 * back as one: to pass a message costs as much as a statement.
 */
import { Worker } from 'node:worker_threads';
import { reasonOf, StoreProblem, storeUnavailable } from '../problem.ts';
import type { Store } from '../store.ts';
import type { StoreLog } from '../store-on.ts';
import { togetherInOneTurn } from './one-turn.ts';
import type { SqliteOptions } from './sqlite.ts';

/** Built JavaScript needs nobody to let Node load it. */
const THREAD = import.meta.url.endsWith('.ts') ? './sqlite-worker.cjs' : './sqlite-worker.js';

export interface Asked {
  readonly call: number;
  readonly store: number;
  /** `open`, which answers what a store can be asked, or one of those: `claim`, `credits.hold`. */
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Answered =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failed: Failed }
  | { readonly store: number; readonly line: { readonly details: object; readonly message: string } };

/** An error, which loses its class on the way. */
export interface Failed {
  readonly kind: 'unavailable' | 'unusable' | 'mistake';
  readonly reason: string;
  readonly stack?: string | undefined;
}

export interface SqliteThread {
  /** See `openSqliteStore`. Rejects with StoreProblem. */
  open(file: string, options?: SqliteOptions): Promise<Store>;
  /** Its stores have to be closed by then. */
  stop(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** It gets ready while its caller goes on. */
export function startSqliteThread(): SqliteThread {
  const worker = new Worker(new URL(THREAD, import.meta.url), { execArgv: [] });
  const waiting = new Map<number, Waiting>();
  const logs = new Map<number, StoreLog | undefined>();
  let calls = 0;
  let stores = 0;
  let ended: Error | undefined;
  const post = togetherInOneTurn<Asked>((together) => {
    try {
      worker.postMessage(together);
    } catch (error) {
      for (const { call } of together) take({ call, failed: { kind: 'mistake', reason: reasonOf(error) } });
    }
  });

  function take(answered: Answered): void {
    if ('line' in answered) {
      logs.get(answered.store)?.error(answered.line.details, answered.line.message);
      return;
    }
    const caller = waiting.get(answered.call);
    waiting.delete(answered.call);
    // A thread with nothing to do keeps no process from its end.
    if (waiting.size === 0) worker.unref();
    if ('failed' in answered) caller?.reject(errorOf(answered.failed));
    else caller?.resolve(answered.result);
  }

  worker.on('message', (answers: readonly Answered[]) => answers.forEach(take));

  function end(reason: string): void {
    ended ??= storeUnavailable(reason);
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  }
  worker.on('error', (error) => end(`the thread of the database failed: ${error.message}`));
  worker.on('exit', () => end('the thread of the database has ended'));
  worker.unref();

  function ask(store: number, method: string, args: readonly unknown[]): Promise<unknown> {
    if (ended) return Promise.reject(ended);
    calls += 1;
    const asked: Asked = { call: calls, store, method, args };
    return new Promise((resolve, reject) => {
      post(asked);
      if (waiting.size === 0) worker.ref();
      waiting.set(asked.call, { resolve, reject });
    });
  }

  /** A store whose methods, `claim` or `credits.hold`, are carried out there. */
  function remote(store: number, methods: readonly string[], now: () => number): Store {
    const parts: Record<string, Record<string, unknown>> = { '': { now } };
    for (const method of methods) {
      const [name = '', part = ''] = method.split('.').reverse();
      parts[part] ??= {};
      parts[part][name] = (...args: unknown[]) => ask(store, method, args);
    }
    const { '': own, ...others } = parts;
    return { ...own, ...others } as unknown as Store;
  }

  return {
    async open(file, { now = Date.now, log } = {}) {
      stores += 1;
      const store = stores;
      logs.set(store, log);
      return remote(store, (await ask(store, 'open', [file])) as string[], now);
    },
    async stop() {
      await worker.terminate();
    },
  };
}

function errorOf({ kind, reason, stack }: Failed): Error {
  if (kind === 'unavailable') return storeUnavailable(reason);
  if (kind === 'unusable') return new StoreProblem(reason);
  return Object.assign(new Error(reason), stack !== undefined && { stack });
}
