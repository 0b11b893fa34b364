/** Time that nobody has to wait for: who pauses by `node:timers/promises` goes on at once. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

/** Until the test ends. Answers how long each pause should have been, in milliseconds, in the order in which they began. */
export function endingPauses(t: Pick<Test, 'teardown'>): number[] {
  const pauses: number[] = [];
  const real = timers.setTimeout;
  const use = (setTimeout: unknown) => {
    Object.assign(timers, { setTimeout });
    syncBuiltinESMExports();
  };
  use(async (milliseconds = 1) => {
    pauses.push(milliseconds);
  });
  t.teardown(() => use(real));
  return pauses;
}
