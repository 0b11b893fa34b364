/** The settle step: money moves once, and whatever comes of it is written down. */
import { Problem } from '../errors.ts';
import type { Money } from '../money.ts';
import type { Claim, Store, StoredReceipt } from '../store/store.ts';
import { type Proof, type Quote, type Rail, Refusal, type Settlement, type Verified } from './rail.ts';

export interface SettleParts {
  readonly store: Pick<Store, 'settle' | 'giveUp'>;
  now(): number;
}

/**
 * A settlement that is refused or has no answer may have gone through all the same (a time-out, a second
 * transaction with one nonce): the chain has the last word where it can be asked.
 */
async function confirmed(rail: Rail, settlement: Settlement, trace: string): Promise<Settlement> {
  if (settlement.state === 'settled') return settlement;
  const outcome = await rail.outcome(trace);
  if (outcome.state !== 'unknown') return outcome;
  // Spent, and the chain does not show by whom yet: our own transaction may still be on its way.
  return settlement.state === 'refused' && settlement.spent
    ? { state: 'unknown', reason: settlement.reason }
    : settlement;
}

/**
 * Settles a claimed payment and keeps the receipt. Throws Refusal when it was refused for good, and Problem
 * `settlement_pending` when nobody knows yet: the reconciler goes on asking.
 */
export async function settlePayment<P extends Proof>(
  { store, now }: SettleParts,
  rail: Rail<P>,
  claim: Claim,
  payment: Verified<P>,
  quote: Quote,
  amount: Money,
): Promise<StoredReceipt> {
  const settlement = await confirmed(rail, await rail.settle(payment, quote, amount), payment.trace);
  switch (settlement.state) {
    case 'settled':
      await store.settle(claim, settlement.receipt, now());
      return settlement.receipt;
    case 'refused':
      await store.giveUp(claim, 'unsettled', settlement.reason, now());
      throw new Refusal('verification-failed', `the payment was not settled: ${settlement.reason}`);
    case 'unknown':
      await store.giveUp(claim, 'unknown', settlement.reason, now());
      throw new Problem(
        'settlement_pending',
        'The chain has not confirmed this payment yet: send the same request with the same payment again',
        { headers: { 'retry-after': '3' } },
      );
  }
}
