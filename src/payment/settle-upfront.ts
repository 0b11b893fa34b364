import { Refusal } from './refusal.ts';

/** What settling may take after the work, in milliseconds, by how a payment settles. */
export const SETTLE_MARGIN_MS = {
  /** A challenge that nobody has answered yet: what a payer signs lasts as long as the network lets it, signing included. */
  offer: 10_000,
  /** An EIP-3009 authorization or a permit, by a facilitator. */
  facilitator: 15_000,
  /** The same behind a challenge that stays open for long: it had time to ask for more. */
  longChallenge: 60_000,
  /** A Tempo transaction: sent by this gateway, included within seconds. */
  ownTransaction: 5_000,
  /** A Solana transaction: a few slots. */
  blockhash: 3_000,
} as const;

/** Kept after the deadline so that a client's clock, the settlement and a second attempt fit in. */
const SPARE_SECONDS = 60;

/** Seconds for which a payment that is signed on a network is asked to be good: as long as it can be, or as it takes. */
export const authorizationSeconds = (
  { deadlineMs }: { readonly deadlineMs: number },
  { authorizationLastsMs }: { readonly authorizationLastsMs: number | undefined },
): number =>
  authorizationLastsMs === undefined
    ? Math.ceil(deadlineMs / 1000) + SPARE_SECONDS
    : Math.floor(authorizationLastsMs / 1000);

/**
 * True where what a payer signs on this network does not outlive the work: everybody's payment settles first there. The
 * network is offered all the same, after those that settle after the result, and every document says so.
 */
export const endsTooSoonOn = (
  network: { readonly authorizationLastsMs: number | undefined },
  work: { readonly deadlineMs: number },
): boolean =>
  endsBeforeTheWork({
    goodForMs: authorizationSeconds(work, network) * 1000,
    deadlineMs: work.deadlineMs,
    settleMarginMs: SETTLE_MARGIN_MS.offer,
  });

/** Those that settle after the result first, else in the order given. */
export const afterResultFirst = <Offer>(offers: readonly Offer[], isUpfront: (offer: Offer) => boolean): Offer[] => [
  ...offers.filter((offer) => !isUpfront(offer)),
  ...offers.filter(isUpfront),
];

/**
 * A payment that was offered to settle after the work and is too short for it is not settled before instead: its payer
 * agreed to no such thing. Throws Refusal `payment-expired`.
 */
export function demandOutliving({ goodForMs, deadlineMs }: { goodForMs: number; deadlineMs: number }): void {
  if (goodForMs >= deadlineMs + SETTLE_MARGIN_MS.facilitator) return;
  throw tooShort();
}

export const tooShort = (): Refusal =>
  new Refusal('payment-expired', 'the payment ends before the work may be done: sign one for a fresh challenge');

/** True where what was signed may not be good any more once the work is done: settling has to come before it. */
export const endsBeforeTheWork = (payment: {
  /** How long it is good from now on, in milliseconds. */
  readonly goodForMs: number;
  readonly deadlineMs: number;
  readonly settleMarginMs: number;
}): boolean => payment.goodForMs < payment.deadlineMs + payment.settleMarginMs;
