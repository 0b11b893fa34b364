/** The claim step: what makes one payment buy at most one upstream call at a time. */
import { draining } from '../errors.ts';
import type { Drawn } from '../store/channels/channel-store.ts';
import { freesItsKey, hasAttemptsLeft, MAX_OWED_ATTEMPTS, mayHaveSettled } from '../store/payments/claimable.ts';
import type { Claim, ClaimOptions, Payment, PaymentFacts, Receipt, Store } from '../store/store.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';
import { waitingFor } from '../timing.ts';
import { endAbandoned } from './abandoned.ts';
import { fromAtomic } from './assets.ts';
import { boughtBefore, isHeld, type Replay } from './bought.ts';
import { inProgress, settlementPending } from './conflicts.ts';
import type { ExposureControl } from './exposure/control.ts';
import { answerUnderKey, identifierKey, identifierTaken, sharedKeys } from './idempotency.ts';
import { type Intervals, usualIntervals } from './intervals.ts';
import type { Credential, Quote, Rail, VerifiedPayment } from './rail.ts';
import { recover } from './recover.ts';
import { Refusal } from './refusal.ts';
import { requestDigest } from './request-digest.ts';
import { MAX_ATTEMPTS, refuseOwedForGood, refuseSpent } from './spent.ts';
import { refusalToSettleFirst, upfrontOf } from './upfront-decision.ts';
import type { UpfrontReason } from './upfront-reason.ts';

interface ClaimParts {
  readonly store: Store;
  readonly exposure: Pick<ExposureControl, 'reserve' | 'policy' | 'wasTold'>;
  /** Names this instance. */
  readonly owner: string;
  /** Prolongs the leases of all that this instance works on. */
  readonly renew?: (() => Promise<unknown>) | undefined;
  readonly intervals?: Intervals | undefined;
  /** Stands before what costs something; the first and the last may throw Problem. `waits`: false where it may not. */
  readonly gate?:
    | {
        arrives(): void;
        waits(): boolean;
        identified(payer: string, hasPaid: boolean, depositor: string | undefined): void;
      }
    | undefined;
  /** Aborted when the gateway has to stop: no payment is claimed any more. */
  readonly stopping: AbortSignal;
  /** Of an asset, by its address. */
  decimalsOf(asset: string): number;
  /** Hears of steps that have ended, and how many milliseconds each took. */
  noted?(step: 'challenge' | 'verified' | 'claimed', ms: number): void;
  now(): number;
}

/** A payment as it is shown for a request. */
interface Shown {
  readonly parts: ClaimParts;
  readonly rail: Rail;
  readonly credential: Credential;
  readonly quote: Quote;
  /** See PaymentFacts.requestDigest. */
  readonly digest: string;
}

/** A payment that this request may work on: to be settled still, or settled by an earlier attempt. */
export type ClaimedPayment = {
  readonly claim: Claim;
  /** By the store's clock, in milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** The network that pays. */
  readonly network: string;
  readonly payer: string;
  /** Address of what it is paid in. */
  readonly asset: string;
  /** Present where an earlier attempt got its answer. */
  readonly answer: StoredAnswer | undefined;
} & (
  | {
      readonly verified: VerifiedPayment;
      /** What came of `Hold.draw`; undefined: nothing was tried. */
      readonly drawn?: Drawn | undefined;
      /** An earlier attempt may have settled it, or may do so yet. */
      readonly mayHaveSettled: boolean;
      workEnded(): void;
    }
  | { readonly receipt: Receipt }
);

/** Nobody works on it, or ends it: what runs here has not lost its lease by a jump of the clock. */
async function isFree({ store, owner, renew, now }: ClaimParts, payment: Payment): Promise<boolean> {
  if (isHeld(payment, now())) return false;
  if (!renew || payment.owner !== owner) return true;
  await renew();
  const renewed = await store.find(payment.id);
  return renewed === undefined || !isHeld(renewed, now());
}

const factsOf = (
  { rail, credential: { id, fingerprint }, quote: { route, request }, digest }: Shown,
  { network, asset, payer, payTo, amount, recoveryQuery }: VerifiedPayment,
  upfront: UpfrontReason | undefined,
): PaymentFacts => ({
  door: request.transport === 'mcp' ? 'mcp' : undefined,
  id,
  rail: rail.name,
  network,
  asset,
  payer,
  payTo,
  amount: amount.toString(),
  route: route.id,
  requestDigest: digest,
  fingerprint,
  recoveryQuery,
  settleUpfront: upfront !== undefined,
});

/** Work that would be stopped at once takes none of a payment's attempts. Throws Problem `draining`. */
function demandRunning({ stopping }: ClaimParts): void {
  if (stopping.aborted)
    throw draining('The gateway is shutting down: send the same request with the same payment again');
}

/** Throws Problem `payment_in_progress` when it has been long enough, or may not wait at all. */
function patience({ gate, now, intervals = usualIntervals }: ClaimParts): () => Promise<void> {
  const wait = waitingFor(intervals.waitMs, now);
  return async () => {
    if (gate?.waits() === false || !(await wait())) throw inProgress();
  };
}

/** Verifies a payment and claims it for this request. Throws Refusal (402) and Problem (409). */
export async function claimPayment(
  parts: ClaimParts,
  rail: Rail,
  credential: Credential,
  quote: Quote,
): Promise<ClaimedPayment | Replay> {
  const { store } = parts;
  const shown: Shown = { parts, rail, credential, quote, digest: requestDigest(quote.request) };
  const wait = patience(parts);
  // What comes of a payment while it is seen through is told, whatever its address did.
  for (let { gate } = parts; ; gate = undefined) {
    const known = await store.find(credential.id);
    if (!known) {
      parts.gate?.arrives();
      await demandFreeIdentifier(parts, credential);
      const claimed = await claimVerified(shown, undefined);
      if (claimed) return claimed;
      continue;
    }
    const replay = whatItBought(gate, known, shown);
    if (replay) return replay;
    demandRunning(parts);
    if (!(await isFree(parts, known))) await wait();
    else if (!hasAttemptsLeft(known, terms(parts, credential))) await endForGood(shown, known);
    else {
      const claimed = await claimAgain(shown, known);
      if (claimed) return claimed;
    }
  }
}

/** Undefined where it can still be worked for. Throws Refusal and Problem where it never can. */
function whatItBought(
  gate: ClaimParts['gate'],
  known: Payment,
  { credential, quote, digest }: Shown,
): Replay | undefined {
  try {
    refuseSpent(known, credential, digest);
    return boughtBefore(known, credential, quote);
  } catch (error) {
    // Anybody can name a payment that the chain shows: it is as bad as one that nobody knows.
    if (error instanceof Refusal) gate?.arrives();
    throw error;
  }
}

/** Before anything is verified. Throws Problem where another payment has the credential's identifier. */
async function demandFreeIdentifier({ store, now }: ClaimParts, credential: Credential): Promise<void> {
  const key = identifierKey(credential, now());
  const kept = key && (await store.cached(key.name, key.since));
  const other = kept && (await store.find(kept.value));
  if (other && other.id !== credential.id && !freesItsKey(other)) throw identifierTaken();
}

/** A payment that took its last attempt along. Throws Problem `settlement_pending` while nobody knows its end. */
async function endForGood({ parts, rail }: Shown, known: Payment): Promise<void> {
  const isEnded = await endAbandoned(parts, known, rail);
  if (!isEnded && known.state === 'unknown') throw settlementPending();
}

/** A payment that was claimed before and is free to be taken. Undefined when it is to be looked at again. */
async function claimAgain(shown: Shown, known: Payment): Promise<ClaimedPayment | Replay | undefined> {
  const { parts, rail } = shown;
  const became = await recover(known, rail, parts.now);
  if (became?.state === 'unknown' && !became.unused) throw settlementPending();
  if (became && became.state !== 'unknown') {
    if (known.state !== 'unknown' && became.state === 'settled') return takeSettled(parts, known, became.receipt);
    if (known.state === 'unknown') await parts.store.resolve(known.id, became, parts.now());
    else await endAbandoned(parts, known, rail);
    return undefined;
  }
  // It bought nothing, and may not be good any more: to look at it costs as much as the first time.
  if (known.state === 'released') parts.gate?.arrives();
  try {
    return await claimVerified(shown, known);
  } catch (error) {
    // Our own attempt, whose end nobody saw, may settle it yet: that is no reason to pay again.
    throw became && error instanceof Refusal ? settlementPending() : error;
  }
}

const terms = (
  { owner, now, intervals = usualIntervals }: ClaimParts,
  { attempts = MAX_ATTEMPTS }: Partial<Credential> = {},
) => ({
  owner,
  now: now(),
  leaseUntil: now() + intervals.leaseMs,
  maxAttempts: attempts,
  maxOwedAttempts: MAX_OWED_ATTEMPTS,
});

async function takeSettled(parts: ClaimParts, known: Payment, receipt: Receipt): Promise<ClaimedPayment | undefined> {
  const { store, now } = parts;
  const options = terms(parts);
  const outcome = await store.claim(known, options);
  if (!outcome.won) return undefined;
  const { claim, before = known } = outcome;
  if (!before.receipt && !(await store.settle(claim, receipt, now()))) return undefined;
  return settledWork({ claim, leaseUntil: options.leaseUntil }, before, receipt);
}

const settledWork = (
  held: Pick<ClaimedPayment, 'claim' | 'leaseUntil'>,
  { network, payer, asset, answer }: Payment,
  receipt: Receipt,
): ClaimedPayment => ({ ...held, network, payer, asset, answer, receipt });

/** Lets a payment go for which nothing was done. Throws Problem `payment_in_progress` where another has it already. */
async function letGo({ store, now }: ClaimParts, claim: Claim, reason: string): Promise<void> {
  if (!(await store.giveUp(claim, 'released', reason, now()))) throw inProgress();
}

/** One balance pays for one thing at a time. Asked only of who has something else under way. Throws Refusal. */
async function demandCover(
  parts: ClaimParts,
  claim: Claim,
  { holder, amount }: VerifiedPayment,
  open: bigint,
): Promise<void> {
  if (open === 0n) return;
  const balance = await holder.balance().catch(() => undefined);
  if (balance !== undefined && balance >= open + amount) return;
  await letGo(parts, claim, 'the balance does not cover what is under way');
  if (balance === undefined) {
    throw new Refusal('verification-failed', 'the balance could not be read at the moment: send the same again');
  }
  throw new Refusal(
    'payment-insufficient',
    `the ${balance} atomic units that the payer can pay with do not cover this payment and the ${open} of those under way: wait for them`,
  );
}

/** What may have moved money is seen through at the price that it was claimed for, whatever the call costs by now. */
function quoteFor({ quote, parts: { decimalsOf } }: Shown, settling: Payment | undefined): Quote {
  if (!settling) return quote;
  const { amount, asset } = settling;
  return { ...quote, amount: fromAtomic(amount, { decimals: decimalsOf(asset) }) };
}

/** Counts it for who has signed it. Throws Problem. Nobody is counted for what another may have signed in his name. */
function identify({ gate }: ClaimParts, { caller, payer, payerIsProven, upfront, hold }: VerifiedPayment): void {
  const signer = caller ?? (payerIsProven ? payer : undefined);
  if (signer === undefined) return;
  gate?.identified(signer, upfront === 'sent', hold?.draw?.deposit === '0' ? payer : undefined);
}

async function claimVerified(shown: Shown, known: Payment | undefined): Promise<ClaimedPayment | Replay | undefined> {
  const { parts, rail, credential } = shown;
  const { store, now } = parts;
  const settlesNow = known !== undefined && mayHaveSettled(known);
  const quote = quoteFor(shown, settlesNow ? known : undefined);
  // A payment of nothing would be worked for, and settled at our cost.
  if (quote.amount === 0n) throw new Refusal('invalid-challenge', 'this cost nothing, and is not given any more');
  const verifiedFrom = performance.now();
  const verified = await rail.verify(credential, quote, settlesNow).catch(async (error: unknown) => {
    if (error instanceof Refusal && (await hasMoved(parts, credential, known))) return undefined;
    throw error;
  });
  if (!verified) return undefined;
  parts.noted?.('challenge', Math.max(0, now() - verified.offeredAt));
  parts.noted?.('verified', performance.now() - verifiedFrom);
  demandRunning(parts);
  // What may have moved money already is seen through.
  if (!settlesNow) identify(parts, verified);
  const identifier = identifierKey(credential, now());
  const keys = [...(identifier ? [identifier] : []), ...sharedKeys(quote, verified, now())];
  const because = settlesNow ? undefined : upfrontOf(parts.exposure, verified, quote, known);
  const facts = factsOf(shown, verified, because);
  const { limits, release, workEnded } = parts.exposure.reserve(quote.amount, verified.decimals);
  let isAtRisk = false;
  try {
    const { owner, leaseUntil, maxAttempts, maxOwedAttempts } = terms(parts, credential);
    const options: ClaimOptions = {
      owner,
      now: now(),
      leaseUntil,
      maxAttempts,
      maxOwedAttempts,
      keys,
      settleAgain: known?.state === 'unknown',
      exposure: verified.isCovered ? undefined : { ...limits, chain: verified.chain },
      draw: verified.hold?.draw,
    };
    const claimedFrom = performance.now();
    const asNamed = await store.claim(facts, options);
    // Money that is here already cannot be left uncharged: it buys what it paid for, whatever another has bought by its key.
    const isTaken = !asNamed.won && asNamed.key !== undefined && verified.upfront === 'sent';
    const outcome = isTaken ? await store.claim(facts, { ...options, now: now(), keys: [] }) : asNamed;
    if (outcome.won) parts.noted?.('claimed', performance.now() - claimedFrom);
    if (!outcome.won) {
      if (outcome.payment.id === credential.id) return undefined;
      if (outcome.key !== undefined && outcome.key === identifier?.name) throw identifierTaken();
      return await whatKeyBought(shown, outcome.payment);
    }
    const { claim, before, open, exceeds, isUnproven, drawn } = outcome;
    // Another request settled it while this one was verified.
    if (before?.receipt) return settledWork({ claim, leaseUntil }, before, before.receipt);
    if (before && mayHaveSettled(before)) {
      return settleAfterAll({ claim, leaseUntil }, before, { ...verified, upfront: because });
    }
    await demandCover(parts, claim, verified, open);
    const upfront = because === undefined || because === 'offered' ? (exceeds ?? because) : because;
    const { network, payer, asset } = verified;
    const refusal = refusalToSettleFirst(parts.exposure, verified, quote, { upfront, isUnproven });
    if (refusal) {
      await letGo(parts, claim, refusal.message);
      throw refusal;
    }
    isAtRisk = isUnproven && upfront === undefined;
    return {
      claim,
      leaseUntil,
      network,
      payer,
      asset,
      answer: before?.answer,
      verified: { ...verified, upfront },
      drawn,
      mayHaveSettled: false,
      workEnded: isAtRisk ? workEnded : () => {},
    };
  } finally {
    if (!isAtRisk) release();
  }
}

/** True where another request went on with the payment meanwhile: what looks spent may have bought an answer. */
async function hasMoved({ store }: ClaimParts, { id }: Credential, known: Payment | undefined): Promise<boolean> {
  const payment = await store.find(id);
  return payment?.state !== known?.state || payment?.attempt !== known?.attempt;
}

/** The work is done, or settling comes before it: what may be on its way already is neither refused nor let go of. */
function settleAfterAll(
  held: Pick<ClaimedPayment, 'claim' | 'leaseUntil'>,
  { answer, recoveryQuery }: Payment,
  verified: VerifiedPayment,
): ClaimedPayment {
  const { network, payer, asset, upfront = 'offered' } = verified;
  const settled = {
    ...verified,
    recoveryQuery,
    upfront: answer || !verified.canSettleUpfront ? undefined : upfront,
  };
  return { ...held, network, payer, asset, answer, verified: settled, mayHaveSettled: true, workEnded: () => {} };
}

/**
 * See `answerUnderKey`. What the payment that has the key is owed is worked for now: its payer came back, if with another
 * payment. Undefined where it was left behind and has ended just now.
 */
async function whatKeyBought(
  { parts, rail, digest }: Shown,
  holder: Payment,
): Promise<ClaimedPayment | Replay | undefined> {
  if (holder.requestDigest === digest) {
    const { state, receipt } = holder;
    const isOpen = state === 'claimed' || (state === 'settled' && !holder.answer) || mayHaveSettled(holder);
    const isLeft = isOpen && (await isFree(parts, holder));
    if (isLeft && (await endAbandoned(parts, holder, rail))) return undefined;
    refuseOwedForGood(holder);
    const owed = state === 'owed' && receipt ? await takeSettled(parts, holder, receipt) : undefined;
    if (owed) return owed;
  }
  return answerUnderKey(holder, digest);
}
