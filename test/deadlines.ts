/** Deadlines that pass when the test says so. */
import type { Test } from 'tap';

/**
 * Until the test ends, what waits for so many milliseconds, to the millisecond, goes on once it is called: for deadlines that
 * nothing else is as long as.
 */
export function deadlinesOf(t: Pick<Test, 'teardown'>, ...milliseconds: readonly number[]): () => void {
  const real = globalThis.setTimeout;
  const waiting: (() => void)[] = [];
  const noting = (callback: (...values: unknown[]) => void, delay?: number, ...values: unknown[]) => {
    if (delay !== undefined && milliseconds.includes(delay)) waiting.push(() => callback(...values));
    return real(callback, delay, ...values);
  };
  globalThis.setTimeout = Object.defineProperties(noting, Object.getOwnPropertyDescriptors(real)) as typeof real;
  t.teardown(() => {
    globalThis.setTimeout = real;
  });
  return () => {
    for (const pass of waiting.splice(0)) pass();
  };
}
