/**
 * SQLite on a thread of its own: whoever writes to a disk waits for it, and whoever answers callers must not. A store's
 * methods become messages. What one turn of an event loop asks goes there as one message, is committed together and comes
 * back as one: to pass a message costs as much as a statement.
 */
import { Worker } from 'node:worker_threads';
import type { AlertStore } from './alert-store.ts';
import type { ChannelStore } from './channel-store.ts';
import type { CreditStore } from './credit-store.ts';
import type { FiguresStore } from './figures-store.ts';
import { togetherInOneTurn } from './one-turn.ts';
import { reasonOf, StoreProblem, storeUnavailable } from './problem.ts';
import type { RefundStore } from './refund-store.ts';
import type { SqliteOptions } from './sqlite.ts';
import type { Store } from './store.ts';

/** Built JavaScript needs nobody to let Node load it. */
const THREAD = import.meta.url.endsWith('.ts') ? './sqlite-worker.cjs' : './sqlite-worker.js';

export interface Asked {
  readonly call: number;
  readonly store: number;
  /** `open`, or the path of a store's method: `claim`, `credits.hold`. */
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Answered =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failed: Failed }
  | { readonly line: { readonly details: object; readonly message: string } };

/** An error, which loses its class on the way. */
export interface Failed {
  readonly kind: 'unavailable' | 'unusable' | 'mistake';
  readonly reason: string;
  readonly stack?: string | undefined;
}

type Remote<Methods> = Readonly<Record<keyof Methods & string, true>>;

const storeMethods: Remote<Omit<Store, 'now' | 'alerts' | 'channels' | 'credits' | 'refunds' | 'figures'>> = {
  check: true,
  find: true,
  claim: true,
  fulfil: true,
  settle: true,
  giveUp: true,
  resolve: true,
  reopen: true,
  renew: true,
  list: true,
  losses: true,
  sales: true,
  paid: true,
  cached: true,
  keep: true,
  forget: true,
  spendAllowances: true,
  takeNonce: true,
  returnNonce: true,
  close: true,
};

const alertMethods: Remote<AlertStore> = {
  add: true,
  raise: true,
  clear: true,
  raised: true,
  take: true,
  sent: true,
  failed: true,
  list: true,
};

const channelMethods: Remote<ChannelStore> = {
  find: true,
  reserve: true,
  adopt: true,
  sync: true,
  unclaimed: true,
  unclaimedSums: true,
  take: true,
  letGo: true,
  list: true,
};

const refundMethods: Remote<RefundStore> = {
  want: true,
  take: true,
  sending: true,
  sent: true,
  failed: true,
  of: true,
  sentIn: true,
  open: true,
  list: true,
};

const figuresMethods: Remote<FiguresStore> = {
  count: true,
  money: true,
  addCalls: true,
  calls: true,
  addExchanges: true,
  exchanges: true,
  addVisits: true,
  visitsOf: true,
  forget: true,
};

const creditMethods: Remote<CreditStore> = {
  addKey: true,
  findKey: true,
  listKeys: true,
  liability: true,
  disableKey: true,
  limitKey: true,
  grant: true,
  purchase: true,
  unconfirmed: true,
  pending: true,
  confirm: true,
  hold: true,
  settle: true,
  release: true,
  refund: true,
  releaseExpired: true,
  renew: true,
  entries: true,
  movements: true,
  sales: true,
  secret: true,
};

export interface SqliteThread {
  /** See `openSqliteStore`. Rejects with StoreProblem. */
  open(file: string): Promise<Store>;
  /** Its stores have to be closed by then. */
  stop(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export function startSqliteThread({ now = Date.now, log }: SqliteOptions = {}): SqliteThread {
  const worker = new Worker(new URL(THREAD, import.meta.url), { execArgv: [] });
  const waiting = new Map<number, Waiting>();
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
      log?.error(answered.line.details, answered.line.message);
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

  /** Methods of a store that are carried out there. */
  const remote = <Methods>(store: number, prefix: string, methods: Remote<Methods>): Methods =>
    Object.fromEntries(
      Object.keys(methods).map((name) => [name, (...args: unknown[]) => ask(store, `${prefix}${name}`, args)]),
    ) as Methods;

  return {
    async open(file) {
      stores += 1;
      const store = stores;
      await ask(store, 'open', [file]);
      return {
        ...remote(store, '', storeMethods),
        now,
        alerts: remote(store, 'alerts.', alertMethods),
        channels: remote(store, 'channels.', channelMethods),
        refunds: remote(store, 'refunds.', refundMethods),
        credits: remote(store, 'credits.', creditMethods),
        figures: remote(store, 'figures.', figuresMethods),
      };
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
