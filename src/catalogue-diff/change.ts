import type { Difference } from './difference.ts';

/**
 * What a change does to who buys already. `may break`: nobody can tell from the catalogue. `price`: calls go on, at another
 * price.
 */
export type Effect = 'breaks' | 'may break' | 'price' | 'harmless';

/** One thing that is different for buyers. */
export interface Change {
  /** `POST /image/oil` as it is now, or as it was where it is gone; `every route over MPP` for what holds for all of them. */
  readonly where: string;
  readonly about:
    | 'endpoint'
    | 'route'
    | 'method'
    | 'network'
    | 'request'
    | 'result'
    | 'price'
    | 'free'
    | 'secret'
    | 'payment';
  /** `size: enum loses`; empty where `about` says it all. */
  readonly what: string;
  readonly effect: Effect;
  /** Of prices, dollars as decimal strings. Left out: there was nothing. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Of a price: how much more of the old one it is, less than nothing where it fell; left out where it was nothing. */
  readonly percent?: number | undefined;
}

/** A request that takes less breaks who sends it, a result that may be more breaks who reads it. */
export function effectOn(use: 'request' | 'result', { direction }: Difference): Effect {
  if (direction === 'unknown') return 'may break';
  const harmful = use === 'request' ? 'narrower' : 'wider';
  return direction === 'both' || direction === harmful ? 'breaks' : 'harmless';
}
