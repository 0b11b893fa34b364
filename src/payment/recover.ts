/**
 * What a payer's retry, a restart and the reconciler do alike: find out what became of a payment whose end nobody saw.
 * Nothing here throws.
 */
import { mayHaveSettled } from '../store/payments/claimable.ts';
import type { Payment, ReceiptedSettlement } from '../store/store.ts';
import type { Rail } from './rail.ts';

type Recoverer = Pick<Rail, 'recover' | 'receipt'>;

/** What the chain says of a payment, with the receipt that follows from it. */
export async function askChain(
  rail: Recoverer,
  recoveryQuery: string,
  now: () => number,
): Promise<ReceiptedSettlement> {
  try {
    const settlement = await rail.recover(recoveryQuery);
    if (settlement.state !== 'settled') return settlement;
    return { state: 'settled', receipt: rail.receipt(recoveryQuery, settlement, now()) };
  } catch (error) {
    // A network that was taken out of networks.yaml, or a query that only another release could read.
    return { state: 'unknown', reason: error instanceof Error ? error.message : 'the payment cannot be asked about' };
  }
}

/**
 * What became of a payment. Undefined: it never came to a settlement, so it is free. A payment whose rail is not offered
 * any more is `unknown`, for nobody here can ask.
 */
export async function recover(
  payment: Payment,
  rail: Recoverer | undefined,
  now: () => number,
): Promise<ReceiptedSettlement | undefined> {
  const { receipt, recoveryQuery } = payment;
  if (receipt) return { state: 'settled', receipt };
  if (!mayHaveSettled(payment)) return undefined;
  if (!rail) return { state: 'unknown', reason: 'nothing here knows this way to pay any more' };
  return askChain(rail, recoveryQuery, now);
}
