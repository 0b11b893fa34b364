/** Payments that are locked before their work: what of them is not taken is given back. */
import type { Drawn } from '../store/channels/channel-store.ts';
import type { Claim, Payment, ReceiptedSettlement, Store } from '../store/store.ts';
import { throughOutage } from '../store/through-outage.ts';
import { inProgress, settlementPending } from './conflicts.ts';
import type { Hold } from './hold.ts';
import type { Rail } from './rail.ts';
import { Refusal } from './refusal.ts';
import type { ToSettle } from './settle.ts';

/** `drawn`: what came of what was to be kept for it with the claim. */
export interface ToLock extends ToSettle {
  readonly drawn?: Drawn | undefined;
}

interface HoldParts {
  readonly store: Pick<Store, 'giveUp'>;
  now(): number;
}

/**
 * Locks a claimed payment. Throws Refusal where nothing can be locked, what declined it, and Problem `settlement_pending` where
 * nobody knows yet, or what an earlier attempt sent may lock it yet: the reconciler gives back what turns out to be locked.
 */
export async function lockPayment(
  { store, now }: HoldParts & { readonly store: Pick<Store, 'cover'> },
  { claim, verified, drawn, mayHaveSettled }: ToLock,
  hold: Hold,
): Promise<void> {
  const locked = await hold.lock(claim, drawn);
  if (locked.state === 'settled') {
    // What is drawn from a deposit never counted.
    if (!verified.isCovered && !(await throughOutage(() => store.cover(claim)))) throw inProgress();
    return;
  }
  if (locked.state === 'declined') {
    if (!(await throughOutage(() => store.giveUp(claim, 'released', locked.error.message, now())))) throw inProgress();
    throw locked.error;
  }
  const state = locked.state === 'refused' && !mayHaveSettled ? 'unsettled' : 'unknown';
  if (!(await throughOutage(() => store.giveUp(claim, state, locked.reason, now())))) throw inProgress();
  if (state === 'unknown') throw settlementPending();
  throw new Refusal('verification-failed', `the payment was not locked: ${locked.reason}`, {
    settlement: { recoveryQuery: verified.recoveryQuery, reason: locked.reason },
  });
}

/** `later`: by the reconciler. `taken`: an earlier attempt took it, so that it pays for what the reconciler writes down as owed. */
export type GivenBack = 'now' | 'later' | 'taken';

/**
 * After work that came to nothing, and why. The payment is the claim's until its money is back, for nobody may work for what is
 * being given back. Undefined where another has it by then.
 */
export async function giveBack(
  { store, now }: HoldParts,
  claim: Claim,
  { release }: Required<Pick<Hold, 'release'>>,
  reason: string,
): Promise<GivenBack | undefined> {
  const became = await release();
  const isBack = became.state === 'refused';
  const isOurs = await throughOutage(() =>
    isBack
      ? store.giveUp(claim, 'unsettled', `${reason}: ${became.reason}`, now())
      : store.giveUp(claim, 'unknown', reason, now()),
  );
  if (!isOurs) return undefined;
  if (isBack) return 'now';
  return became.state === 'settled' ? 'taken' : 'later';
}

/** Whether its money is locked, where that can be ended. */
export const isLocked = ({ endHold }: Pick<Rail, 'endHold'>, became: ReceiptedSettlement | undefined): boolean =>
  became?.state === 'unknown' && became.held === true && endHold !== undefined;

/**
 * Ends what is locked and nobody works on: takes it for an answer that is kept, gives it back otherwise. `became` is what the
 * chain says of the payment; anything but a hold stays as it is.
 */
export async function endHold(
  rail: Pick<Rail, 'endHold' | 'receipt'>,
  { recoveryQuery, answer }: Pick<Payment, 'recoveryQuery' | 'answer'>,
  became: ReceiptedSettlement | undefined,
  now: () => number,
): Promise<ReceiptedSettlement | undefined> {
  if (!rail.endHold || !isLocked(rail, became)) return became;
  const ended = await rail.endHold(recoveryQuery, answer !== undefined);
  return ended?.state === 'settled' ? { state: 'settled', receipt: rail.receipt(recoveryQuery, ended, now()) } : ended;
}
