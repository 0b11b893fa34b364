/** A small fixed histogram of milliseconds: the same bounds always, so that instances and hours add up. */

/** What took longer than all bounds. */
const LONGEST = 2_147_483_647;

const BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, LONGEST];

/** The upper bound of the part that so many milliseconds are in. */
export const bucketOf = (ms: number): number => BOUNDS.find((bound) => ms <= bound) ?? LONGEST;

/**
 * Below how many milliseconds that share of all is, as if each part were filled evenly; `counts` by upper bound.
 * Undefined where there is nothing.
 */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number | undefined {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let left = share * all;
  let lower = 0;
  for (const bound of BOUNDS) {
    const count = counts.get(bound) ?? 0;
    if (count > 0 && left <= count) {
      return bound === LONGEST ? lower : Math.round(lower + ((bound - lower) * left) / count);
    }
    left -= count;
    lower = bound;
  }
  return undefined;
}
