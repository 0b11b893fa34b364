/** Payments that can buy nothing any more, and what their payers are told. */
import { finalCodes, Problem } from '../errors.ts';
import { MAX_OWED_ATTEMPTS } from '../store/payments/claimable.ts';
import type { Payment } from '../store/store.ts';
import type { Credential } from './rail.ts';
import { ReceiptedProblem } from './receipted-problem.ts';
import { Refusal } from './refusal.ts';

/** A payment whose upstream failed, or whose instance died at work, may be used this many times in all. */
export const MAX_ATTEMPTS = 3;

/** Throws when the payment stands in a state that no request can change. */
export function refuseSpent(
  payment: Payment,
  { fingerprint, attempts = MAX_ATTEMPTS }: Credential,
  digest: string,
): void {
  const refuse = (reason: string) => new Refusal('invalid-challenge', reason);
  if (payment.fingerprint !== fingerprint) throw refuse('this authorization has been used: sign a new one');
  if (payment.requestDigest !== digest) {
    throw refuse('this payment belongs to another request: sign a new one for this one');
  }
  if (payment.state === 'unsettled') {
    const { recoveryQuery, reason = '' } = payment;
    throw new Refusal('verification-failed', `this payment could not be settled (${reason}): sign a new one`, {
      settlement: { recoveryQuery, reason },
    });
  }
  if (payment.state === 'released' && payment.attempt >= attempts) {
    throw refuse(`this payment was tried ${attempts} times and never charged: sign a new one`);
  }
  refuseOwedForGood(payment);
  refuseRefunded(payment);
}

/** Throws Problem where the money is, or will be, the payer's again. */
function refuseRefunded({ state, reason }: Payment): void {
  if (state !== 'refunded') return;
  const how = reason ? `transaction ${reason}` : 'its transaction follows';
  throw new Problem('refunded', `There was no result for this payment, and it is given back: ${how}`);
}

/** Throws ReceiptedProblem where the result of a payment that is owed it cannot be had any more. */
export function refuseOwedForGood(payment: Payment): void {
  const { state, reason = '', attempt } = payment;
  if (state !== 'owed') return;
  if (finalCodes.has(reason)) throw owedForGood(payment, `refused for good (${reason}): the operator's refund is due`);
  if (attempt >= MAX_OWED_ATTEMPTS) {
    throw owedForGood(payment, 'the provider goes on failing: the operator sees what is owed and has to give it back');
  }
}

/** Who has to ask for money names what was paid: that is in the receipt. */
export const owedForGood = ({ receipt }: Pick<Payment, 'receipt'>, why: string): Problem =>
  receipt
    ? new ReceiptedProblem('result_owed', receipt, `Paid, but ${why}`, { headers: {} })
    : new Problem('result_owed', `Paid, but ${why}`);
