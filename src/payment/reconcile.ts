/** Goes on asking the chains about payments whose settlement had no answer. */
import type { Payment, Store, StoredReceipt } from '../store/store.ts';
import { LEASE_MS, MAX_ATTEMPTS } from './claim.ts';
import type { Rail } from './rail.ts';

export interface ReconcileParts {
  readonly store: Pick<Store, 'list' | 'resolve' | 'claim' | 'settle' | 'giveUp'>;
  readonly rails: readonly Rail[];
  /** Names this instance. */
  readonly owner: string;
  now(): number;
}

const BATCH = 100;
/** The payer's own retry comes first: it brings the proof along. */
const ADOPT_AFTER_MS = 60_000;

const railOf = (rails: readonly Rail[], payment: Payment): Rail | undefined =>
  rails.find((candidate) => candidate.name === payment.rail);

/** One round over the payments whose end nobody saw. Answers how many were resolved. */
export async function reconcile(parts: ReconcileParts): Promise<number> {
  return (await resolveUnknown(parts)) + (await adoptOrphans(parts));
}

/** Settlements without an answer. The longest unasked come first, so that lasting ones hide no others. */
async function resolveUnknown({ store, rails, now }: ReconcileParts): Promise<number> {
  let resolved = 0;
  for (const payment of await store.list({ states: ['unknown'], oldest: true, limit: BATCH })) {
    const outcome = await railOf(rails, payment)?.outcome(payment.trace);
    if (!outcome || outcome.state === 'unknown') continue;
    const found = outcome.state === 'settled' ? { settled: outcome.receipt } : { unsettled: outcome.reason };
    if (await store.resolve(payment.id, found, now())) resolved += 1;
  }
  return resolved;
}

/**
 * Payments whose instance died between settling and writing it down, or before the result of what was settled first.
 * Their payers may never come back: what was taken from them must show as settled or owed all the same.
 */
async function adoptOrphans({ store, rails, owner, now }: ReconcileParts): Promise<number> {
  let adopted = 0;
  const orphans = await store.list({
    states: ['claimed', 'fulfilled', 'settled'],
    leaseBefore: now() - ADOPT_AFTER_MS,
    oldest: true,
    limit: BATCH,
  });
  for (const payment of orphans) {
    const receipt = payment.receipt ?? (await receiptOf(payment, rails));
    if (!receipt) continue;
    const outcome = await store.claim(payment, {
      owner,
      now: now(),
      leaseUntil: now() + LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      maxOwedAttempts: Number.MAX_SAFE_INTEGER,
    });
    if (!outcome.won) continue;
    await store.settle(outcome.claim, receipt, now());
    if (!payment.answer) await store.giveUp(outcome.claim, 'owed', 'the gateway stopped before the result', now());
    adopted += 1;
  }
  return adopted;
}

async function receiptOf(payment: Payment, rails: readonly Rail[]): Promise<StoredReceipt | undefined> {
  const mayHaveSettled = payment.state === 'fulfilled' || (payment.state === 'claimed' && payment.settlesFirst);
  const outcome = mayHaveSettled ? await railOf(rails, payment)?.outcome(payment.trace) : undefined;
  return outcome?.state === 'settled' ? outcome.receipt : undefined;
}
