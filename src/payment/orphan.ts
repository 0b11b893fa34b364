import type { Payment } from '../store/store.ts';
import type { Rail, Settlement } from './rail.ts';

/**
 * What became of a payment whose instance died at work on it. Undefined: it never came to a settlement. A payment whose
 * rail is not offered any more is `unknown`, for nobody here can ask.
 */
export async function whatBecame(
  payment: Payment,
  rail: Pick<Rail, 'outcome'> | undefined,
): Promise<Settlement | undefined> {
  if (payment.receipt) return { state: 'settled', receipt: payment.receipt };
  const mayHaveSettled = payment.state === 'fulfilled' || (payment.state === 'claimed' && payment.settlesFirst);
  if (!mayHaveSettled) return undefined;
  return rail
    ? rail.outcome(payment.trace)
    : { state: 'unknown', reason: 'nothing here knows this way to pay any more' };
}
