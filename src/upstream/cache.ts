/** Answers worth keeping for a while; concurrent equal requests make one upstream call. */
import { isOutage } from '../store/problem.ts';
import type { Store } from '../store/store.ts';
import { unlessAborted } from '../timing.ts';
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
   * A fetch that ends with its caller's `signal` is made anew for one of those who wait.
   */
  through<Value>(
    key: string,
    maxAgeMs: number,
    fetch: () => Promise<Value>,
    signal: AbortSignal,
    isWorthKeeping?: (value: Value) => boolean,
  ): Promise<Cached<Value>>;
}

interface Found {
  readonly json: string;
  readonly fetchedAt: number;
  readonly cached: boolean;
}

const late = () =>
  new UpstreamProblem('timeout', 'cache', 'what another call fetches did not come before the deadline');

/** A database that is away for a moment costs nobody what a provider was paid for: what could not be kept is fetched again. */
function notWhereAway(error: unknown): undefined {
  if (!isOutage(error)) throw error;
}

/** Kept where all instances see it. Values go through JSON: what comes back is a copy. */
export function openCache({ store, now }: { store: Pick<Store, 'cached' | 'keep'>; now: () => number }): Cache {
  const underWay = new Map<string, { found: Promise<Found>; signal: AbortSignal }>();

  async function find<Value>(
    key: string,
    maxAgeMs: number,
    fetch: () => Promise<Value>,
    isWorthKeeping: (value: Value) => boolean,
  ): Promise<Found> {
    const kept = await store.cached(key, now() - maxAgeMs).catch(notWhereAway);
    // What a clock that was ahead has dated may be of any age.
    if (kept && kept.storedAt < now() + maxAgeMs) return { json: kept.value, fetchedAt: kept.storedAt, cached: true };
    const value = await fetch();
    const json = JSON.stringify(value);
    const fetchedAt = now();
    if (isWorthKeeping(value)) await store.keep(key, json, fetchedAt).catch(notWhereAway);
    return { json, fetchedAt, cached: false };
  }

  return {
    async through(key, maxAgeMs, fetch, signal, isWorthKeeping = () => true) {
      for (let running = underWay.get(key); running; running = underWay.get(key)) {
        try {
          const { json, fetchedAt } = await unlessAborted(signal, running.found, late);
          return { value: JSON.parse(json), cached: true, fetchedAt };
        } catch (error) {
          // Its caller's time is over, and not this one's.
          if (signal.aborted || !running.signal.aborted) throw error;
        }
      }
      const found = find(key, maxAgeMs, fetch, isWorthKeeping).finally(() => underWay.delete(key));
      underWay.set(key, { found, signal });
      const { json, fetchedAt, cached } = await found;
      return { value: JSON.parse(json), cached, fetchedAt };
    },
  };
}
