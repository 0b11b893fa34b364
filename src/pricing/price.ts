/** The parts that every compiled price is made of. */

import { PricingProblem } from '../catalogue/contracts.ts';
import type { Price } from '../catalogue/types.ts';
import { type Money, usd } from '../money.ts';

export const lower = (one: Money, other: Money): Money => (one < other ? one : other);
const higher = (one: Money, other: Money): Money => (one > other ? one : other);

/** The lowest of at least one amount. */
export const lowest = (amounts: Iterable<Money>): Money => [...amounts].reduce(lower);
/** The highest of at least one amount. */
export const highest = (amounts: Iterable<Money>): Money => [...amounts].reduce(higher);

/** Only what is marked free costs nothing: all else costs a millionth of a dollar at least. */
export const charged = (money: Money, free: boolean): Money => (free ? money : higher(money, 1n));

/** A price whose `fixed` follows from its bounds. */
export const priceWith = (parts: Omit<Price, 'fixed'>): Price => ({ ...parts, fixed: parts.min === parts.max });

/**
 * Reads the option `max`, a bound on what a request costs. Throws PricingProblem for "0", which would give away
 * what the other options sell.
 */
export function readCap(max: string | undefined): Money | undefined {
  if (max === undefined) return undefined;
  const cap = usd(max);
  if (cap > 0n) return cap;
  throw new PricingProblem(['max'], 'price.max is 0: nothing would be charged', 'the highest price, or no max');
}

export const capped = (money: Money, cap: Money | undefined): Money => (cap === undefined ? money : lower(money, cap));
