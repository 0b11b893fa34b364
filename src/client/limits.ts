/** What a client may spend: for one call, and for all of its calls together. */
import { type Money, toDecimal } from '../money.ts';

export interface Limits {
  readonly perCall: Money;
  readonly total: Money;
}

/** A limit that a price goes beyond; amounts are decimal strings in dollars. */
export interface LimitReached {
  readonly kind: 'perCall' | 'total';
  readonly price: string;
  readonly limit: string;
  /** What has been signed for so far. */
  readonly spent: string;
}

export interface Spending {
  readonly spent: Money;
  /**
   * The limit that this price would go beyond; undefined where there is none. `perCall`: in place of the client's own; `adds`:
   * what the call would add to the total, where that is not its price.
   */
  reached(price: Money, perCall?: Money, adds?: Money): LimitReached | undefined;
  /** Counts what it adds, before its payment is signed. */
  count(price: Money): void;
  /** Takes it back: nobody has the payment. */
  unsigned(price: Money): void;
  /**
   * Takes it back because the gateway says that nothing was charged. That is believed for as much as the total, so that a
   * gateway that lies costs at most the total once more. False where it stays counted.
   */
  uncharged(price: Money): boolean;
}

export function openSpending({ perCall, total }: Limits): Spending {
  let spent: Money = 0n;
  let believed: Money = 0n;
  return {
    get spent() {
      return spent;
    },
    reached(price, own = perCall, adds = price) {
      const said = { price: toDecimal(price), spent: toDecimal(spent) };
      if (price > own) return { kind: 'perCall', limit: toDecimal(own), ...said };
      if (spent + adds > total) return { kind: 'total', limit: toDecimal(total), ...said };
      return undefined;
    },
    count(price) {
      spent += price;
    },
    unsigned(price) {
      spent -= price;
    },
    uncharged(price) {
      if (believed + price > total) return false;
      believed += price;
      spent -= price;
      return true;
    },
  };
}
