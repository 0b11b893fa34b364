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

/** One that ends at its start must not keep its process busy with beginning. */
const SHORTEST_LIFE_MS = 1_000;

/** A database that is open there. */
interface Opened {
  readonly file: string;
  readonly upgrades: boolean | undefined;
  readonly log: StoreLog | undefined;
}

/**
 * It gets ready while its caller goes on. One that dies is begun anew for the next question, with the files that were open: what it
 * was asked, and had not answered, may have been done.
 */
export function startSqliteThread(): SqliteThread {
  const waiting = new Map<number, Waiting>();
  const opened = new Map<number, Opened>();
  let calls = 0;
  let stores = 0;
  let isStopped = false;
  /** Of the thread that was begun last: since when, and what became of it. */
  let begunAt = 0;
  let ended: Error | undefined;
  let worker = begin();
  const post = togetherInOneTurn<Asked>((together) => {
    try {
      worker.postMessage(together);
    } catch (error) {
      for (const { call } of together) take({ call, failed: { kind: 'mistake', reason: reasonOf(error) } });
    }
  });

  function take(answered: Answered): void {
    if ('line' in answered) {
      opened.get(answered.store)?.log?.error(answered.line.details, answered.line.message);
      return;
    }
    const caller = waiting.get(answered.call);
    waiting.delete(answered.call);
    // A thread with nothing to do keeps no process from its end.
    if (waiting.size === 0) worker.unref();
    if ('failed' in answered) caller?.reject(errorOf(answered.failed));
    else caller?.resolve(answered.result);
  }

  function begin(): Worker {
    const begun = new Worker(new URL(THREAD, import.meta.url), { execArgv: [] });
    begunAt = performance.now();
    begun.on('message', (answers: readonly Answered[]) => answers.forEach(take));
    const over = (reason: string) => {
      // An error comes first, and the next may have begun before the exit.
      if (begun === worker) end(reason);
    };
    begun.on('error', (error) => over(`the thread of the database failed: ${error.message}`));
    begun.on('exit', () => over('the thread of the database has ended'));
    begun.unref();
    return begun;
  }

  function end(reason: string): void {
    if (ended) return;
    ended = storeUnavailable(reason);
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    if (isStopped) return;
    for (const { log } of opened.values()) log?.error({ reason }, 'the database is opened anew for the next question');
  }

  /** Begins a thread anew where it has died, with the stores that were open. False where there is none afterwards. */
  function revive(): boolean {
    if (!ended) return true;
    if (isStopped || performance.now() - begunAt < SHORTEST_LIFE_MS) return false;
    ended = undefined;
    const begun = begin();
    worker = begun;
    for (const [store, { file, upgrades }] of opened) {
      ask(store, 'open', [file, upgrades]).catch((error: unknown) => {
        if (begun === worker) end(reasonOf(error));
        begun.terminate();
      });
    }
    return true;
  }

  function ask(store: number, method: string, args: readonly unknown[]): Promise<unknown> {
    if (!revive()) return Promise.reject(ended);
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
    async open(file, { now = Date.now, log, upgrades } = {}) {
      stores += 1;
      const store = stores;
      const methods = (await ask(store, 'open', [file, upgrades])) as string[];
      opened.set(store, { file, upgrades, log });
      const { close, ...others } = remote(store, methods, now);
      return {
        ...others,
        close() {
          opened.delete(store);
          return close();
        },
      };
    },
    async stop() {
      isStopped = true;
      await worker.terminate();
    },
  };
}

function errorOf({ kind, reason, stack }: Failed): Error {
  if (kind === 'unavailable') return storeUnavailable(reason);
  if (kind === 'unusable') return new StoreProblem(reason);
  return Object.assign(new Error(reason), stack !== undefined && { stack });
}
