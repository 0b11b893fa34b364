/** Answers worth keeping for a while; concurrent equal requests make one upstream call. */
import type { Store } from '../store/store.ts';
import { UpstreamProblem } from './problem.ts';

export interface Cached<Value> {
  value: Value;
  /** True where nothing was fetched for this call. */
  cached: boolean;
  /** When the value was fetched, in milliseconds since the epoch. */
  fetchedAt: number;
}

export interface Cache {
  /**
   * The value under `key` if it is younger than `maxAgeMs`, else what `fetch` gives. A failed fetch is not kept, nor a
   * value that `isWorthKeeping` rejects. Who waits for another caller's fetch waits until `signal` aborts: then it throws UpstreamProblem `timeout`.
   */
  through<Value>(
    key: string,
    maxAgeMs: number,
    fetch: () => Promise<Value>,
    signal: AbortSignal,
    isWorthKeeping?: (value: Value) => boolean,
  ): Promise<Cached<Value>>;
}

/** Kept where all instances see it. Values go through JSON: what comes back is a copy. */
export function openCache({ store, now }: { store: Pick<Store, 'cached' | 'keep'>; now: () => number }): Cache {
  const underWay = new Map<string, Promise<{ json: string; fetchedAt: number; cached: boolean }>>();

  async function find<Value>(
    key: string,
    maxAgeMs: number,
    fetch: () => Promise<Value>,
    isWorthKeeping: (value: Value) => boolean,
  ) {
    const kept = await store.cached(key, now() - maxAgeMs);
    // What a clock that was ahead has dated may be of any age.
    if (kept && kept.storedAt < now() + maxAgeMs) return { json: kept.value, fetchedAt: kept.storedAt, cached: true };
    const value = await fetch();
    const json = JSON.stringify(value);
    const fetchedAt = now();
    if (isWorthKeeping(value)) await store.keep(key, json, fetchedAt);
    return { json, fetchedAt, cached: false };
  }

  return {
    async through(key, maxAgeMs, fetch, signal, isWorthKeeping = () => true) {
      const running = underWay.get(key);
      if (running) {
        const { json, fetchedAt } = await unlessAborted(running, signal);
        return { value: JSON.parse(json), cached: true, fetchedAt };
      }
      const found = find(key, maxAgeMs, fetch, isWorthKeeping).finally(() => underWay.delete(key));
      underWay.set(key, found);
      const { json, fetchedAt, cached } = await found;
      return { value: JSON.parse(json), cached, fetchedAt };
    },
  };
}

/** The promise goes on for the others. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(new UpstreamProblem('timeout', 'cache', 'what another call fetches did not come before the deadline'));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
