/** Ends payments whose payers did not come back: settlements without an answer, and what a dead instance left behind. */
import type { Log } from '../log.ts';
import type { Payment, Store } from '../store/store.ts';
import { type AbandonedParts, endAbandoned } from './abandoned.ts';
import { byNetwork } from './by-network.ts';
import { usualIntervals } from './intervals.ts';
import type { Rail } from './rail.ts';

interface ReconcileParts extends AbandonedParts {
  readonly store: AbandonedParts['store'] & Pick<Store, 'list'>;
  readonly rails: ReadonlyMap<string, Rail>;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** When this instance last prolonged its own leases, which makes them longer than from then on. Default: now. */
  readonly renewedAt?: number;
}

/** Of each network. */
const BATCH = 100;

/** One round over the payments whose end nobody saw. Answers how many were resolved. */
export async function reconcile(parts: ReconcileParts): Promise<number> {
  return (await resolveUnknown(parts)) + (await adoptAbandoned(parts));
}

/** Ends each payment by itself, so that one that cannot be ended is in nobody's way. Answers how many were ended. */
async function endEach(payments: readonly Payment[], parts: ReconcileParts): Promise<number> {
  const { rails, log, now } = parts;
  return byNetwork(payments, now, async (payment) => {
    try {
      return await endAbandoned(parts, payment, rails.get(payment.rail));
    } catch (err) {
      log.error({ payment: payment.id, err }, 'a payment could not be reconciled');
      return false;
    }
  });
}

/** Settlements without an answer. The longest unasked come first, so that lasting ones hide no others. */
async function resolveUnknown(parts: ReconcileParts): Promise<number> {
  const { store, now, intervals = usualIntervals } = parts;
  const due = { now: now(), ...intervals.lookAgainMs };
  const unknown = { states: ['unknown'], due, oldest: true, ofEachNetwork: true, limit: BATCH } as const;
  return endEach(await store.list(unknown), parts);
}

/**
 * Payments whose instance died at work on them. Their payers may never come back: what was taken from them must show
 * as settled or owed all the same, and what was not must be free again.
 */
async function adoptAbandoned(parts: ReconcileParts): Promise<number> {
  const { store, now, renewedAt = now(), intervals = usualIntervals } = parts;
  const abandoned = await store.list({
    states: ['claimed', 'fulfilled', 'settled'],
    leaseBefore: renewedAt - intervals.adoptAfterMs,
    oldest: true,
    ofEachNetwork: true,
    limit: BATCH,
  });
  return endEach(abandoned, parts);
}
