/** Goes on asking the chains about payments whose settlement had no answer. */
import type { Claim, Payment, ResolvedOutcome, Store } from '../store/store.ts';
import { LEASE_MS, MAX_ATTEMPTS } from './claim.ts';
import { whatBecame } from './orphan.ts';
import type { Rail, Settlement } from './rail.ts';

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
const STOPPED = 'the gateway stopped before the result';

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
    await store.resolve(payment.id, resolvedBy(outcome), now());
    if (outcome && outcome.state !== 'unknown') resolved += 1;
  }
  return resolved;
}

function resolvedBy(outcome: Settlement | undefined): ResolvedOutcome {
  switch (outcome?.state) {
    case 'settled':
      return { settled: outcome.receipt };
    case 'refused':
      return { unsettled: outcome.reason };
    case 'unknown':
    case undefined:
      return { unknown: outcome?.reason ?? 'nothing here knows this way to pay any more' };
  }
}

/**
 * Payments whose instance died at work on them. Their payers may never come back: what was taken from them must show
 * as settled or owed all the same, and what was not must be free again.
 */
async function adoptOrphans({ store, rails, owner, now }: ReconcileParts): Promise<number> {
  const orphans = await store.list({
    states: ['claimed', 'fulfilled', 'settled'],
    leaseBefore: now() - ADOPT_AFTER_MS,
    oldest: true,
    limit: BATCH,
  });
  let adopted = 0;
  for (const payment of orphans) {
    const outcome = await store.claim(payment, {
      owner,
      now: now(),
      leaseUntil: now() + LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      maxOwedAttempts: Number.MAX_SAFE_INTEGER,
    });
    if (!outcome.won) continue;
    await endOrphan(outcome.claim, payment, await whatBecame(payment, railOf(rails, payment)), store, now);
    adopted += 1;
  }
  return adopted;
}

async function endOrphan(
  claim: Claim,
  payment: Payment,
  became: Settlement | undefined,
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
