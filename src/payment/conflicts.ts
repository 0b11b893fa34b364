/** Answers by which a payer has to come back with the same payment: 409. */
import { Problem } from '../errors.ts';

/** Also where this request had the payment and lost it: another has taken it over, or will. */
export const inProgress = (): Problem =>
  new Problem('payment_in_progress', 'This payment is being worked on: send the same request again in a moment', {
    headers: { 'retry-after': '5' },
  });

const pending = (message: string): Problem =>
  new Problem('settlement_pending', message, { headers: { 'retry-after': '3' } });

export const settlementPending = (): Problem =>
  pending('The chain has not confirmed this payment yet: send the same request with the same payment again');

/** Of money that its payer has sent, and that our node does not tell of. */
export const notSeenYet = (reason: string): Problem => pending(reason);

/** Of money that was to be given back, and that an earlier attempt had taken. */
export const alreadyTaken = (): Problem =>
  pending(
    'What was locked for this payment is taken: send the same request with the same payment again to get what it paid for',
  );
