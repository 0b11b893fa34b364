/**
 * Limits of several instances over one database: each tells now and then what it has counted, and learns what the others
 * have. Until then a caller may take from each of them what is left there: at N instances, N times a tenth of its
 * allowance and what it can ask within two seconds, once.
 */
import type { Store } from '../store/store.ts';
import type { Bucket } from './bucket.ts';

/** A stranger with many addresses makes no more work than this in a round. */
const AT_ONCE = 200;

/** One round. What cannot be told now is told in the next. */
export async function shareLimits(
  buckets: readonly Bucket[],
  store: Pick<Store, 'spendAllowances'>,
  now: () => number,
): Promise<void> {
  for (const bucket of buckets) {
    const spent = bucket.unshared(now(), AT_ONCE);
    if (spent.length === 0) continue;
    const wholeAt = await store.spendAllowances(
      spent.map(([caller, milliseconds]) => ({
        name: `${bucket.name} ${caller}`,
        milliseconds: Math.ceil(milliseconds),
        longestMs: bucket.longestMs,
      })),
      now(),
    );
    spent.forEach(([caller, milliseconds], at) => {
      const whole = wholeAt[at];
      if (whole !== undefined) bucket.learn(caller, whole, milliseconds);
    });
  }
}
