/** What settling costs us, in the asset that is paid: a payment that is mostly fee is not worth taking. */

/** Settling may cost one part in so many of the price. */
const PARTS = 2n;

export interface NativeCoin {
  /** Decimals of the chain's own coin. */
  readonly decimals: 9 | 18;
  /** Atomic units of the paid asset that one coin is worth at most; 0: not known, so its cost is not weighed. */
  readonly value: bigint;
}

/** `cost` in atomic units of the coin, `price` in those of the asset. Undefined where settling pays. */
export function costProblem(cost: bigint, price: bigint, { decimals, value }: NativeCoin): string | undefined {
  return cost * value * PARTS <= price * 10n ** BigInt(decimals)
    ? undefined
    : 'settling costs more than half the price: pay on another network';
}
