/** Whether this instance may be sent paid calls: its database can be written, and this machine's clock is right. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { reasonOf } from './problem.ts';
import type { Store } from './store.ts';

export interface Readiness {
  /** Why it is not ready, in words for everybody; undefined: it is. */
  fault(): string | undefined;
  /** Looks again. Never throws. */
  check(): Promise<void>;
}

/** How long a database that works may take to answer. */
const ANSWER_MS = 5_000;

/** Clocks that are kept agree much better: one that is further off is not kept. */
const MOST_SKEW_MS = 5_000;

const UNAVAILABLE = 'the database cannot be used';

/** `now`: this machine's clock. */
export function watchStore(store: Pick<Store, 'check' | 'now'>, log: Log, now: () => number): Readiness {
  let fault: string | undefined;

  function become(found: string | undefined, details: object = {}): void {
    const before = fault;
    fault = found;
    if (found === before) return;
    if (found === undefined) log.info({}, 'the store is ready again');
    else log.error(details, found);
  }

  async function answer(): Promise<void> {
    const over = new AbortController();
    const late = delay(ANSWER_MS, undefined, { signal: over.signal }).then(
      () => {
        throw new Error(`no answer for ${ANSWER_MS} ms`);
      },
      () => undefined,
    );
    try {
      await Promise.race([store.check(), late]);
    } finally {
      over.abort();
    }
  }

  return {
    fault: () => fault,
    async check() {
      try {
        await answer();
      } catch (error) {
        become(UNAVAILABLE, { reason: reasonOf(error) });
        return;
      }
      const aheadMs = now() - store.now();
      const isWrong = Math.abs(aheadMs) > MOST_SKEW_MS;
      become(isWrong ? "this machine's clock is not the database's" : undefined, { aheadMs });
    },
  };
}
