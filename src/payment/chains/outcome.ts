/** What a chain says of a payment whose settlement had no answer. */
export type ChainOutcome =
  /** It went through. `amount` in atomic units. */
  | { state: 'settled'; transaction: string; amount: bigint }
  /** It did not, and never can. */
  | { state: 'unsettled'; reason: string }
  /** Ask again later. */
  | { state: 'unknown'; reason: string };

export const unknown = (reason: string): ChainOutcome => ({ state: 'unknown', reason });
export const unsettled = (reason: string): ChainOutcome => ({ state: 'unsettled', reason });
