/** The settle step: money moves once, and whatever comes of it is written down. */
import type { Log } from '../log.ts';
import type { Money } from '../money.ts';
import type { Claim, Fulfilled, Receipt, ReceiptedSettlement, Store } from '../store/store.ts';
import { throughOutage } from '../store/through-outage.ts';
import { inProgress, settlementPending } from './conflicts.ts';
import type { Rail, VerifiedPayment } from './rail.ts';
import { askChain } from './recover.ts';
import { Refusal } from './refusal.ts';

interface SettleParts {
  readonly store: Pick<Store, 'settle' | 'giveUp'>;
  readonly log: Pick<Log, 'warn'>;
  now(): number;
}

/** A claimed payment. */
export interface ToSettle {
  readonly claim: Claim;
  readonly verified: VerifiedPayment;
  /** An earlier attempt may have settled or locked it, or may do so yet. */
  readonly mayHaveSettled: boolean;
}

/**
 * A settlement that is refused or has no answer may have gone through all the same (a time-out, a second
 * transaction with one nonce): the chain has the last word where it can be asked.
 */
async function settleAndConfirm(
  rail: Pick<Rail, 'recover' | 'receipt'>,
  { verified: { recoveryQuery, settle }, mayHaveSettled }: ToSettle,
  amount: Money,
  now: () => number,
): Promise<ReceiptedSettlement> {
  const settlement = await settle(amount);
  if (settlement.state === 'settled') {
    return { state: 'settled', receipt: rail.receipt(recoveryQuery, settlement, now()) };
  }
  const onChain = await askChain(rail, recoveryQuery, now);
  if (onChain.state !== 'unknown') return onChain;
  // Spent, and the chain does not show by whom yet, or tried before: our own transaction may still be on its way.
  return settlement.state === 'refused' && (settlement.spent || mayHaveSettled)
    ? { state: 'unknown', reason: settlement.reason }
    : settlement;
}

export interface Settled {
  readonly receipt: Receipt;
  /** False where another has taken the payment over meanwhile: whatever is left to do is its. */
  readonly isOurs: boolean;
}

/**
 * Settles a claimed payment and keeps the receipt, with what was `fulfilled` where that is not kept yet. Throws Refusal when
 * it was refused for good, and Problem `settlement_pending` when nobody knows yet: the reconciler goes on asking. Where the
 * claim was lost, whoever has it finds out: Problem `payment_in_progress`.
 */
export async function settlePayment(
  { store, log, now }: SettleParts,
  rail: Pick<Rail, 'recover' | 'receipt'>,
  payment: ToSettle,
  amount: Money,
  fulfilled?: Fulfilled,
): Promise<Settled> {
  const { claim, verified } = payment;
  const settlement = await settleAndConfirm(rail, payment, amount, now);
  const giveUp = async (state: 'unsettled' | 'unknown', reason: string) => {
    if (!(await throughOutage(() => store.giveUp(claim, state, reason, now())))) throw inProgress();
  };
  switch (settlement.state) {
    case 'settled': {
      const { receipt } = settlement;
      return { receipt, isOurs: await throughOutage(() => store.settle(claim, receipt, now(), fulfilled)) };
    }
    case 'refused':
      await giveUp('unsettled', settlement.reason);
      throw new Refusal('verification-failed', `the payment was not settled: ${settlement.reason}`, {
        settlement: { recoveryQuery: verified.recoveryQuery, reason: settlement.reason },
      });
    case 'unknown':
      await giveUp('unknown', settlement.reason);
      log.warn(
        { payment: claim.id, network: verified.network, why: settlement.reason },
        'nobody knows yet whether a payment has settled',
      );
      throw settlementPending();
  }
}
