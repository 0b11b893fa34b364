/** Ends payments that nobody works on any more, as their chains say: for the reconciler, and for payers who return. */
import type { Log } from '../log.ts';
import type { Claim, Payment, ReceiptedSettlement, Store } from '../store/store.ts';
import { type Intervals, usualIntervals } from './intervals.ts';
import { endHold, isLocked } from './locking.ts';
import type { Rail } from './rail.ts';
import { recover } from './recover.ts';

export interface AbandonedParts {
  readonly store: Pick<Store, 'resolve' | 'takeUnknown' | 'claim' | 'settle' | 'giveUp'>;
  /** Names this instance. */
  readonly owner: string;
  readonly intervals?: Intervals;
  readonly log?: Pick<Log, 'warn'>;
  now(): number;
}

const STOPPED = 'the gateway stopped before the result';
/** Nothing is worked for. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

/**
 * Asks the chain about a payment that is `unknown`, or whose lease ran out, and writes down what it says. False where it
 * stands as before: nobody knows, or somebody else has it.
 */
export async function endAbandoned(parts: AbandonedParts, payment: Payment, rail: Rail | undefined): Promise<boolean> {
  const { store, owner, intervals = usualIntervals, now } = parts;
  if (payment.state === 'unknown') return resolve(parts, payment, rail);
  const outcome = await store.claim(payment, {
    owner,
    now: now(),
    leaseUntil: now() + intervals.leaseMs,
    maxAttempts: ANY_NUMBER,
    maxOwedAttempts: ANY_NUMBER,
  });
  if (!outcome.won) return false;
  const { claim, before = payment } = outcome;
  const became = await recover(before, rail, now);
  const ended = rail ? await endHold(rail, before, became, now) : became;
  tellOfHold(parts, before, ended);
  return end(claim, before, ended, parts);
}

/** Nobody has an `unknown` payment: it is taken only to end a hold, for its payer may come back while the chain is asked. */
async function resolve(parts: AbandonedParts, payment: Payment, rail: Rail | undefined): Promise<boolean> {
  const { store, owner, intervals = usualIntervals, now } = parts;
  const became = await recover(payment, rail, now);
  if (!became) return false;
  if (!rail || !isLocked(rail, became)) {
    return (await store.resolve(payment.id, became, now())) && became.state !== 'unknown';
  }
  const leaseUntil = now() + intervals.leaseMs;
  if (!(await store.takeUnknown(payment, { owner, now: now(), leaseUntil }))) return false;
  const done = await endHold(rail, payment, became, now);
  tellOfHold(parts, payment, done);
  const ended = done ?? ({ state: 'released', reason: STOPPED } as const);
  return (await store.resolve(payment.id, ended, now(), leaseUntil)) && ended.state !== 'unknown';
}

/** Its payer waits with a hold, and work that was done is not paid: the operator hears of it once for each reason. */
function tellOfHold(
  { log }: AbandonedParts,
  { id, network, reason }: Payment,
  became: ReceiptedSettlement | undefined,
): void {
  if (became?.state !== 'unknown' || !became.held || became.reason === reason) return;
  log?.warn({ payment: id, network, reason: became.reason }, 'a hold is not ended yet');
}

/** False where another has taken the payment over meanwhile: it goes on from there. */
async function end(
  claim: Claim,
  payment: Payment,
  became: ReceiptedSettlement | undefined,
  { store, now }: AbandonedParts,
): Promise<boolean> {
  switch (became?.state) {
    case 'settled': {
      // What has its receipt was counted with it.
      const isOurs = payment.receipt !== undefined || (await store.settle(claim, became.receipt, now()));
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
