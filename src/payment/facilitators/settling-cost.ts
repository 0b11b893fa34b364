/** What settling costs us, in the asset that is paid: a payment that is mostly fee is not worth taking. */
import { divideUp } from '../../money.ts';

/** Settling may cost one part in so many of the price. */
const PARTS = 2n;

export interface NativeCoin {
  /** Decimals of the chain's own coin. */
  readonly decimals: 9 | 18;
  /** Atomic units of the paid asset that one coin is worth at most; 0: not known, so its cost is not weighed. */
  readonly value: bigint;
}

/** The lowest price, in atomic units of the asset, that is worth settling at a `cost` in atomic units of the coin. */
export function leastPrice(cost: bigint, { decimals, value }: NativeCoin): bigint {
  const unit = 10n ** BigInt(decimals);
  return divideUp(cost * value * PARTS, unit);
}

export const COSTS_TOO_MUCH = 'settling costs more than half the price: pay on another network';
export const NO_GAS_LEFT = 'the facilitator has no gas left';

/** `cost` in atomic units of the coin, `price` in those of the asset. Undefined where settling pays. */
export function costProblem(cost: bigint, price: bigint, coin: NativeCoin): string | undefined {
  return price >= leastPrice(cost, coin) ? undefined : COSTS_TOO_MUCH;
}
