import type { ClaimOptions, Payment, PaymentFacts } from '../store.ts';
import type { PaymentState } from './states.ts';

/**
 * The state that a payment known already takes on when it is claimed again, or undefined when this claim may not
 * have it. Pure; the engines ask it about a row that nobody else can change meanwhile.
 */
export function stateOnClaim(payment: Payment, facts: PaymentFacts, options: ClaimOptions): PaymentState | undefined {
  if (payment.requestDigest !== facts.requestDigest || payment.fingerprint !== facts.fingerprint) return undefined;
  if (!hasAttemptsLeft(payment, options)) return undefined;
  const leaseRanOut = payment.leaseUntil <= options.now;
  switch (payment.state) {
    case 'released':
      return 'claimed';
    case 'owed':
      return 'settled';
    case 'claimed':
    case 'fulfilled':
      return leaseRanOut ? payment.state : undefined;
    case 'settled':
      return leaseRanOut && payment.answer === undefined ? 'settled' : undefined;
    case 'unknown':
      if (!options.settleAgain || !leaseRanOut) return undefined;
      return payment.answer === undefined ? 'claimed' : 'fulfilled';
    case 'unsettled':
    case 'refunded':
      return undefined;
  }
}

/** What is paid, or may be, is tried so often: then what is owed has to be given back. */
export const MAX_OWED_ATTEMPTS = 20;

/** Each claim is an attempt, also one whose instance died. What is paid, or may be, is tried more often. */
export function hasAttemptsLeft(
  payment: Pick<Payment, 'state' | 'settleUpfront' | 'attempt'>,
  { maxAttempts, maxOwedAttempts }: Pick<ClaimOptions, 'maxAttempts' | 'maxOwedAttempts'>,
): boolean {
  const isPaid = payment.state === 'settled' || payment.state === 'owed' || mayHaveSettled(payment);
  return payment.attempt < (isPaid ? maxOwedAttempts : maxAttempts);
}

/** True where a settlement may have begun whose end nobody saw: money may be on its way, whatever the chain shows now. */
export const mayHaveSettled = ({ state, settleUpfront }: Pick<Payment, 'state' | 'settleUpfront'>): boolean =>
  state === 'unknown' || state === 'fulfilled' || (state === 'claimed' && settleUpfront);

/** True where the payment bought nothing and took nothing, so that another may have the key it was made under. */
export const freesItsKey = ({ state }: Payment): boolean =>
  state === 'released' || state === 'unsettled' || state === 'refunded';
