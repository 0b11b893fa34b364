import { Refusal } from './refusal.ts';

/** What settling may take after the work, in milliseconds, by how a payment settles. */
export const SETTLE_MARGIN_MS = {
  /** A challenge that nobody has answered yet: what a payer signs lasts as long as the network lets it. */
  offer: 5_000,
  /** An EIP-3009 authorization or a permit, by a facilitator. */
  facilitator: 15_000,
  /** The same behind a challenge that stays open for long: it had time to ask for more. */
  longChallenge: 60_000,
  /** A Tempo transaction: sent by this gateway, included within seconds. */
  ownTransaction: 5_000,
} as const;

/**
 * A payment that was offered to settle after the work and is too short for it is not settled before instead: its payer
 * agreed to no such thing. Throws Refusal `payment-expired`.
 */
export function demandOutliving({ goodForMs, deadlineMs }: { goodForMs: number; deadlineMs: number }): void {
  if (goodForMs >= deadlineMs + SETTLE_MARGIN_MS.facilitator) return;
  throw new Refusal('payment-expired', 'the payment ends before the work may be done: sign one for a fresh challenge');
}

/**
 * The one place that decides what comes first. Settling comes after the result wherever the authorization is still good
 * by then and its payer is proven; otherwise before.
 */
export const settlesUpfront = (payment: {
  /** How long it is good from now on, in milliseconds. */
  readonly goodForMs: number;
  readonly deadlineMs: number;
  readonly settleMarginMs: number;
  /** False where only the chain can check the signature: it must not buy work before the chain has. */
  readonly isProven: boolean;
}): boolean => !payment.isProven || payment.goodForMs < payment.deadlineMs + payment.settleMarginMs;
