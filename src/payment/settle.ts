/** The settle step: money moves once, and whatever comes of it is written down. */
import { Problem } from '../errors.ts';
import type { Money } from '../money.ts';
import type { Claim, Receipt, ReceiptedSettlement, Store } from '../store/store.ts';
import type { Rail, VerifiedPayment } from './rail.ts';
import { askChain } from './recover.ts';
import { Refusal } from './refusal.ts';

interface SettleParts {
  readonly store: Pick<Store, 'settle' | 'giveUp'>;
  now(): number;
}

/**
 * A settlement that is refused or has no answer may have gone through all the same (a time-out, a second
 * transaction with one nonce): the chain has the last word where it can be asked.
 */
async function settleAndConfirm(
  rail: Pick<Rail, 'recover' | 'receipt'>,
  { recoveryQuery, settle }: VerifiedPayment,
  amount: Money,
  now: () => number,
): Promise<ReceiptedSettlement> {
  const settlement = await settle(amount);
  if (settlement.state === 'settled') {
    return { state: 'settled', receipt: rail.receipt(recoveryQuery, settlement, now()) };
  }
  const onChain = await askChain(rail, recoveryQuery, now);
  if (onChain.state !== 'unknown') return onChain;
  // Spent, and the chain does not show by whom yet: our own transaction may still be on its way.
  return settlement.state === 'refused' && settlement.spent
    ? { state: 'unknown', reason: settlement.reason }
    : settlement;
}

/**
 * Settles a claimed payment and keeps the receipt. Throws Refusal when it was refused for good, and Problem
 * `settlement_pending` when nobody knows yet: the reconciler goes on asking.
 */
export async function settlePayment(
  { store, now }: SettleParts,
  rail: Pick<Rail, 'recover' | 'receipt'>,
  claim: Claim,
  payment: VerifiedPayment,
  amount: Money,
): Promise<Receipt> {
  const settlement = await settleAndConfirm(rail, payment, amount, now);
  switch (settlement.state) {
    case 'settled':
      await store.settle(claim, settlement.receipt, now());
      return settlement.receipt;
    case 'refused':
      await store.giveUp(claim, 'unsettled', settlement.reason, now());
      throw new Refusal('verification-failed', `the payment was not settled: ${settlement.reason}`, {
        settlement: { recoveryQuery: payment.recoveryQuery, reason: settlement.reason },
      });
    case 'unknown':
      await store.giveUp(claim, 'unknown', settlement.reason, now());
      throw new Problem(
        'settlement_pending',
        'The chain has not confirmed this payment yet: send the same request with the same payment again',
        { headers: { 'retry-after': '3' } },
      );
  }
}
