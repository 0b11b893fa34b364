import type { ClaimOptions, Payment, PaymentFacts, PaymentState } from './store.ts';

/**
 * The state that a payment known already takes on when it is claimed again, or undefined when this claim may not
 * have it. Pure; the engines ask it about a row that nobody else can change meanwhile.
 */
export function stateOnClaim(payment: Payment, facts: PaymentFacts, options: ClaimOptions): PaymentState | undefined {
  if (payment.requestDigest !== facts.requestDigest || payment.fingerprint !== facts.fingerprint) return undefined;
  const leaseRanOut = payment.leaseUntil <= options.now;
  switch (payment.state) {
    case 'released':
      return payment.attempt < options.maxAttempts ? 'claimed' : undefined;
    case 'owed':
      return payment.attempt < options.maxOwedAttempts ? 'settled' : undefined;
    case 'claimed':
    case 'fulfilled':
      return leaseRanOut ? payment.state : undefined;
    case 'settled':
      return leaseRanOut && payment.answer === undefined ? 'settled' : undefined;
    case 'unsettled':
    case 'unknown':
      return undefined;
  }
}

/** True where the payment bought nothing and moved nothing, so that another may have the key it was made under. */
export const freesItsKey = ({ state }: Payment): boolean => state === 'released' || state === 'unsettled';
