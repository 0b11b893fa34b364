/** Time that a test does not leave to the clock, for whoever pauses by `node:timers/promises`. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

const real = timers.setTimeout;

function use(setTimeout: unknown): void {
  Object.assign(timers, { setTimeout });
  syncBuiltinESMExports();
}

/**
 * Nobody has to wait, until the test ends: who pauses goes on at once. Answers how long each pause should have been, in
 * milliseconds, in the order in which they began.
 */
export function endingPauses(t: Pick<Test, 'teardown'>): number[] {
  const pauses: number[] = [];
  use(async (milliseconds = 1) => {
    pauses.push(milliseconds);
  });
  t.teardown(() => use(real));
  return pauses;
}

/** No pause ends by itself, however long a step takes, until what this answers is called, or the test ends. */
export function holdingPauses(t: Pick<Test, 'teardown'>): () => void {
  const held: (() => void)[] = [];
  use(
    (_milliseconds?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) => {
        held.push(() => resolve(value));
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  );
  const goOn = () => {
    use(real);
    for (const end of held.splice(0)) end();
  };
  t.teardown(goOn);
  return goOn;
}
