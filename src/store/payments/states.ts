/**
 * A payment's states:
 *
 *     settling after:   claimed -> fulfilled -> settled
 *     settling before:  claimed -> settled (no answer yet) -> settled (with its answer)
 *     exits:            released (upstream failed, not charged; may be claimed again)
 *                       unsettled (settlement refused for good; its answer is dropped)
 *                       unknown (settlement without an answer; the chain is asked; may be settled again)
 *                       owed (settled first, no result yet)
 *                       refunded (owed, and given back: no result any more)
 */
export const paymentStates = [
  'claimed',
  'fulfilled',
  'settled',
  'released',
  'unsettled',
  'unknown',
  'owed',
  'refunded',
] as const;

export type PaymentState = (typeof paymentStates)[number];
