/** Ends payments whose payers did not come back: settlements without an answer, and what a dead instance left behind. */
import type { Claim, Payment, ReceiptedSettlement, Store } from '../store/store.ts';
import { LEASE_MS, MAX_ATTEMPTS } from './claim.ts';
import type { Rail } from './rail.ts';
import { recover } from './recover.ts';

interface ReconcileParts {
  readonly store: Pick<Store, 'list' | 'resolve' | 'claim' | 'settle' | 'giveUp'>;
  readonly rails: ReadonlyMap<string, Rail>;
  /** Names this instance. */
  readonly owner: string;
  now(): number;
}

const BATCH = 100;
/** The payer's own retry comes first: it brings the credential along. */
const ADOPT_AFTER_MS = 60_000;
const STOPPED = 'the gateway stopped before the result';

/** One round over the payments whose end nobody saw. Answers how many were resolved. */
export async function reconcile(parts: ReconcileParts): Promise<number> {
  return (await resolveUnknown(parts)) + (await adoptAbandoned(parts));
}

/** Settlements without an answer. The longest unasked come first, so that lasting ones hide no others. */
async function resolveUnknown({ store, rails, now }: ReconcileParts): Promise<number> {
  let resolved = 0;
  for (const payment of await store.list({ states: ['unknown'], oldest: true, limit: BATCH })) {
    const settlement = await recover(payment, rails.get(payment.rail), now);
    if (!settlement) continue;
    await store.resolve(payment.id, settlement, now());
    if (settlement.state !== 'unknown') resolved += 1;
  }
  return resolved;
}

/**
 * Payments whose instance died at work on them. Their payers may never come back: what was taken from them must show
 * as settled or owed all the same, and what was not must be free again.
 */
async function adoptAbandoned({ store, rails, owner, now }: ReconcileParts): Promise<number> {
  const abandoned = await store.list({
    states: ['claimed', 'fulfilled', 'settled'],
    leaseBefore: now() - ADOPT_AFTER_MS,
    oldest: true,
    limit: BATCH,
  });
  let adopted = 0;
  for (const payment of abandoned) {
    const outcome = await store.claim(payment, {
      owner,
      now: now(),
      leaseUntil: now() + LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      maxOwedAttempts: Number.MAX_SAFE_INTEGER,
    });
    if (!outcome.won) continue;
    await end(outcome.claim, payment, await recover(payment, rails.get(payment.rail), now), store, now);
    adopted += 1;
  }
  return adopted;
}

async function end(
  claim: Claim,
  payment: Payment,
  became: ReceiptedSettlement | undefined,
  store: ReconcileParts['store'],
  now: () => number,
): Promise<void> {
  switch (became?.state) {
    case 'settled':
      await store.settle(claim, became.receipt, now());
      if (!payment.answer) await store.giveUp(claim, 'owed', STOPPED, now());
      return;
    case 'refused':
      await store.giveUp(claim, 'unsettled', became.reason, now());
      return;
    case 'unknown':
      await store.giveUp(claim, 'unknown', became.reason, now());
      return;
    case undefined:
      await store.giveUp(claim, 'released', STOPPED, now());
  }
}
