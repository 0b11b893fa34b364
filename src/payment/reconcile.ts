/** Ends payments whose payers did not come back: settlements without an answer, and what a dead instance left behind. */
import type { Log } from '../log.ts';
import type { Claim, Payment, ReceiptedSettlement, Store } from '../store/store.ts';
import { MAX_ATTEMPTS } from './claim.ts';
import { LEASE_MS } from './leases.ts';
import type { Rail } from './rail.ts';
import { recover } from './recover.ts';

interface ReconcileParts {
  readonly store: Pick<Store, 'list' | 'resolve' | 'claim' | 'settle' | 'giveUp'>;
  readonly rails: ReadonlyMap<string, Rail>;
  /** Names this instance. */
  readonly owner: string;
  readonly log: Pick<Log, 'error'>;
  now(): number;
}

const BATCH = 100;
/** The payer's own retry comes first: it brings the credential along. */
const ADOPT_AFTER_MS = 60_000;
/** The wait before the next look doubles from the one to the other: what stays unknown is asked about less and less. */
const LOOK_AGAIN_MS = { least: 10_000, most: 600_000 };
/** Nothing more is begun on a network in this round; the next one goes on. */
const ROUND_MS = 30_000;
const STOPPED = 'the gateway stopped before the result';

/** One round over the payments whose end nobody saw. Answers how many were resolved. */
export async function reconcile(parts: ReconcileParts): Promise<number> {
  return (await resolveUnknown(parts)) + (await adoptAbandoned(parts));
}

/**
 * Ends each payment by itself, so that one that cannot be ended is in nobody's way; networks at the same time, so that a
 * node that does not answer keeps only its own waiting. Answers how many were ended.
 */
async function endEach(
  payments: readonly Payment[],
  { log, now }: ReconcileParts,
  endOne: (payment: Payment) => Promise<boolean>,
): Promise<number> {
  const byNetwork = new Map<string, Payment[]>();
  for (const payment of payments) {
    byNetwork.set(payment.network, [...(byNetwork.get(payment.network) ?? []), payment]);
  }
  const until = now() + ROUND_MS;
  let ended = 0;
  const inTurn = async (turns: readonly Payment[]) => {
    for (const payment of turns) {
      if (now() > until) return;
      try {
        if (await endOne(payment)) ended += 1;
      } catch (err) {
        log.error({ payment: payment.id, err }, 'a payment could not be reconciled');
      }
    }
  };
  await Promise.all([...byNetwork.values()].map(inTurn));
  return ended;
}

/** Settlements without an answer. The longest unasked come first, so that lasting ones hide no others. */
async function resolveUnknown(parts: ReconcileParts): Promise<number> {
  const { store, rails, now } = parts;
  const due = { now: now(), ...LOOK_AGAIN_MS };
  const unknown = await store.list({ states: ['unknown'], due, oldest: true, limit: BATCH });
  return endEach(unknown, parts, async (payment) => {
    const settlement = await recover(payment, rails.get(payment.rail), now);
    if (!settlement) return false;
    return (await store.resolve(payment.id, settlement, now())) && settlement.state !== 'unknown';
  });
}

/**
 * Payments whose instance died at work on them. Their payers may never come back: what was taken from them must show
 * as settled or owed all the same, and what was not must be free again.
 */
async function adoptAbandoned(parts: ReconcileParts): Promise<number> {
  const { store, rails, owner, now } = parts;
  const abandoned = await store.list({
    states: ['claimed', 'fulfilled', 'settled'],
    leaseBefore: now() - ADOPT_AFTER_MS,
    oldest: true,
    limit: BATCH,
  });
  return endEach(abandoned, parts, async (payment) => {
    const outcome = await store.claim(payment, {
      owner,
      now: now(),
      leaseUntil: now() + LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      maxOwedAttempts: Number.MAX_SAFE_INTEGER,
    });
    if (!outcome.won) return false;
    return end(outcome.claim, payment, await recover(payment, rails.get(payment.rail), now), store, now);
  });
}

/** False where another has taken the payment over meanwhile: it goes on from there. */
async function end(
  claim: Claim,
  payment: Payment,
  became: ReceiptedSettlement | undefined,
  store: ReconcileParts['store'],
  now: () => number,
): Promise<boolean> {
  switch (became?.state) {
    case 'settled': {
      const isOurs = await store.settle(claim, became.receipt, now());
      return isOurs && (payment.answer !== undefined || store.giveUp(claim, 'owed', STOPPED, now()));
    }
    case 'refused':
      return store.giveUp(claim, 'unsettled', became.reason, now());
    case 'unknown':
      return store.giveUp(claim, 'unknown', became.reason, now());
    case undefined:
      return store.giveUp(claim, 'released', STOPPED, now());
  }
}
