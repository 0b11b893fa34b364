/** The claim step: what makes one payment buy at most one upstream call at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { finalCodes, Problem } from '../errors.ts';
import { freesItsKey } from '../store/claimable.ts';
import type { Claim, Payment, PaymentFacts, Receipt, Store, StoredAnswer } from '../store/store.ts';
import { inProgress, settlementPending } from './conflicts.ts';
import type { ExposureControl } from './exposure/control.ts';
import { answerUnderKey, identifierKey, identifierTaken, sharedKey } from './idempotency.ts';
import { LEASE_MS } from './leases.ts';
import type { Credential, Quote, Rail, VerifiedPayment } from './rail.ts';
import { recover } from './recover.ts';
import { Refusal } from './refusal.ts';
import { requestDigest } from './request-digest.ts';
import { tooShort } from './settle-upfront.ts';
import { type UpfrontReason, upfrontReasons } from './upfront-reason.ts';

interface ClaimParts {
  readonly store: Store;
  readonly exposure: Pick<ExposureControl, 'reserve' | 'policy' | 'wasTold'>;
  /** Names this instance. */
  readonly owner: string;
  now(): number;
}

/** A payment whose upstream failed may be used this many times in all. */
export const MAX_ATTEMPTS = 3;

/** What is owed is tried more often, for it has been paid, but not without end: then the operator gives it back. */
const MAX_OWED_ATTEMPTS = 20;

/** How long a second request with the same payment waits for the first before it has to come back. */
const WAIT_MS = 25_000;

/** A payment that this request may work on: to be settled still, or settled by an earlier attempt. */
export type Work = {
  readonly claim: Claim;
  /** By the store's clock, in milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** The network that pays. */
  readonly network: string;
  readonly payer: string;
  /** Present where an earlier attempt got its answer. */
  readonly answer: StoredAnswer | undefined;
} & ({ readonly verified: VerifiedPayment; workEnded(): void } | { readonly receipt: Receipt });

/** An answer that was paid for before. */
export interface Replay {
  readonly answer: StoredAnswer;
  readonly receipt: Receipt;
}

/** Throws when the payment stands in a state that no request can change. */
function refuseSpent(payment: Payment, { fingerprint }: Credential, digest: string): void {
  const refuse = (reason: string) => new Refusal('invalid-challenge', reason);
  if (payment.fingerprint !== fingerprint) throw refuse('this authorization has been used: sign a new one');
  if (payment.requestDigest !== digest) {
    throw refuse('this payment belongs to another request: sign a new one for this one');
  }
  if (payment.state === 'unsettled') {
    const { recoveryQuery, reason = '' } = payment;
    throw new Refusal('verification-failed', `this payment could not be settled (${reason}): sign a new one`, {
      settlement: { recoveryQuery, reason },
    });
  }
  if (payment.state === 'released' && payment.attempt >= MAX_ATTEMPTS) {
    throw refuse(`this payment was tried ${MAX_ATTEMPTS} times and never charged: sign a new one`);
  }
  if (payment.state === 'owed' && finalCodes.has(payment.reason ?? '')) {
    throw new Problem('result_owed', `Paid, but refused for good (${payment.reason}): the operator's refund is due`);
  }
  if (payment.state === 'owed' && payment.attempt >= MAX_OWED_ATTEMPTS) {
    throw new Problem(
      'result_owed',
      'Paid, but the provider goes on failing: the operator sees what is owed and has to give it back',
    );
  }
}

/** The answer that this very payment bought. Throws Refusal where it may be given once only. */
function boughtBefore({ state, answer, receipt }: Payment, credential: Credential, quote: Quote): Replay | undefined {
  if (state !== 'settled' || !answer || !receipt) return undefined;
  if (quote.route.endpoint.secret && !credential.isPrivate) {
    throw new Refusal(
      'invalid-challenge',
      'this answer holds a secret, and the chain shows all of a version 1 payment: it was given once; pay with version 2',
    );
  }
  return { answer, receipt };
}

const isHeld = ({ state, leaseUntil }: Payment, now: number): boolean =>
  (state === 'claimed' || state === 'fulfilled' || state === 'settled') && leaseUntil > now;

/** Asks the chain about a payment whose settlement had no answer. Throws Problem `settlement_pending` while it is open. */
async function resolve(payment: Payment, rail: Rail, { store, now }: ClaimParts): Promise<void> {
  const settlement = await recover(payment, rail, now);
  if (!settlement || settlement.state === 'unknown') throw settlementPending();
  await store.resolve(payment.id, settlement, now());
}

const factsOf = (
  rail: Rail,
  { id, fingerprint }: Credential,
  { route }: Quote,
  { network, asset, payer, payTo, amount, recoveryQuery }: VerifiedPayment,
  upfront: UpfrontReason | undefined,
  digest: string,
): PaymentFacts => ({
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

/** Waits a little longer each time. Throws Problem `payment_in_progress` when it has been long enough. */
function patience(now: () => number): () => Promise<void> {
  const until = now() + WAIT_MS;
  let pause = 20;
  return async () => {
    if (now() >= until) throw inProgress();
    await delay(pause);
    pause = Math.min(pause * 2, 250);
  };
}

/** Verifies a payment and claims it for this request. Throws Refusal (402) and Problem (409). */
export async function claimPayment(
  parts: ClaimParts,
  rail: Rail,
  credential: Credential,
  quote: Quote,
): Promise<Work | Replay> {
  const { store, now } = parts;
  const digest = requestDigest(quote.request);
  const wait = patience(now);
  for (;;) {
    const known = await store.find(credential.id);
    if (!known) {
      await demandFreeIdentifier(parts, credential);
      const claimed = await claimVerified(parts, rail, credential, quote, digest, undefined);
      if (claimed) return claimed;
      continue;
    }
    refuseSpent(known, credential, digest);
    const replay = boughtBefore(known, credential, quote);
    if (replay) return replay;
    if (known.state === 'unknown') await resolve(known, rail, parts);
    else if (isHeld(known, now())) await wait();
    else {
      const claimed = await claimAgain(parts, rail, credential, quote, known, digest);
      if (claimed) return claimed;
    }
  }
}

/** Before anything is verified. Throws Problem where another payment has the credential's identifier. */
async function demandFreeIdentifier({ store, now }: ClaimParts, credential: Credential): Promise<void> {
  const key = identifierKey(credential, now());
  const kept = key && (await store.cached(key.name, key.since));
  const other = kept && (await store.find(kept.value));
  if (other && other.id !== credential.id && !freesItsKey(other)) throw identifierTaken();
}

/** A payment that was claimed before and is free to be taken. Undefined when another request was faster. */
async function claimAgain(
  parts: ClaimParts,
  rail: Rail,
  credential: Credential,
  quote: Quote,
  known: Payment,
  digest: string,
): Promise<Work | Replay | undefined> {
  const became = await recover(known, rail, parts.now);
  if (became?.state === 'settled') return takeSettled(parts, known, became.receipt);
  try {
    return await claimVerified(parts, rail, credential, quote, digest, known);
  } catch (error) {
    // It may look spent by our own attempt whose end nobody saw: that is no reason to pay again.
    throw became?.state === 'unknown' && error instanceof Refusal ? settlementPending() : error;
  }
}

const terms = ({ owner, now }: ClaimParts) => ({
  owner,
  now: now(),
  leaseUntil: now() + LEASE_MS,
  maxAttempts: MAX_ATTEMPTS,
  maxOwedAttempts: MAX_OWED_ATTEMPTS,
});

async function takeSettled(parts: ClaimParts, known: Payment, receipt: Receipt): Promise<Work | undefined> {
  const { store, now } = parts;
  const options = terms(parts);
  const outcome = await store.claim(known, options);
  if (!outcome.won) return undefined;
  const { claim, before } = outcome;
  if (!before?.receipt && !(await store.settle(claim, receipt, now()))) return undefined;
  const { network, payer } = known;
  return { claim, leaseUntil: options.leaseUntil, network, payer, answer: before?.answer, receipt };
}

/** Lets a payment go for which nothing was done. Throws Problem `payment_in_progress` where another has it already. */
async function letGo({ store, now }: ClaimParts, claim: Claim, reason: string): Promise<void> {
  if (!(await store.giveUp(claim, 'released', reason, now()))) throw inProgress();
}

/**
 * Why a payment settles first, before the store has looked at what else its payer has under way. Throws Refusal where
 * its payer was told otherwise.
 */
function upfrontOf(
  { exposure }: ClaimParts,
  { upfront, holder, offeredAt: at, network }: VerifiedPayment,
  { route }: Quote,
  known: Payment | undefined,
): UpfrontReason | undefined {
  if (upfront === 'loss' && !exposure.wasTold('loss', { at, route, network, isUnproven: false }))
    throw toldOtherwise('loss');
  // Tried before, to settle after the work: it has become too short for that meanwhile.
  if (upfront === 'deadline' && known && !known.settleUpfront) throw tooShort();
  if (upfront !== undefined && upfront !== 'offered') return upfront;
  // Only the chain can check what a contract signs, and it may say otherwise when it counts.
  return exposure.policy.settleUpfront.contracts && holder.isContract ? 'contract' : upfront;
}

const toldOtherwise = (upfront: UpfrontReason): Refusal =>
  new Refusal(
    'payment-expired',
    `settling comes first by now (${upfrontReasons[upfront]}), and the challenge was given before: pay a fresh one`,
    { upfront },
  );

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
    `the balance of ${balance} does not cover this payment and the ${open} atomic units of those under way: wait for them`,
  );
}

/** What is to be paid is known only after the work, and this payer's payments settle before it. */
const hasToPayExactly = (upfront: UpfrontReason): Refusal =>
  new Refusal(
    'verification-failed',
    `payments of this payer settle before the work (${upfrontReasons[upfront]}): pay by the scheme exact`,
    { upfront },
  );

async function claimVerified(
  parts: ClaimParts,
  rail: Rail,
  credential: Credential,
  quote: Quote,
  digest: string,
  known: Payment | undefined,
): Promise<Work | Replay | undefined> {
  const { store, now } = parts;
  const verified = await rail.verify(credential, quote);
  const identifier = identifierKey(credential, now());
  const keys = [identifier, sharedKey(quote, verified, now())].filter((key) => key !== undefined);
  const because = upfrontOf(parts, verified, quote, known);
  const facts = factsOf(rail, credential, quote, verified, because, digest);
  const { limits: exposure, release, workEnded } = parts.exposure.reserve(quote.amount, verified.decimals);
  let isAtRisk = false;
  try {
    const options = terms(parts);
    const outcome = await store.claim(facts, { ...options, exposure, keys });
    if (!outcome.won) {
      if (outcome.payment.id === credential.id) return undefined;
      if (outcome.key !== undefined && outcome.key === identifier?.name) throw identifierTaken();
      return answerUnderKey(outcome.payment, digest);
    }
    const { claim, before, open, exceeds, isUnproven } = outcome;
    await demandCover(parts, claim, verified, open);
    const upfront = because === undefined || because === 'offered' ? (exceeds ?? because) : because;
    const { network, payer, offeredAt: at } = verified;
    const refusal =
      upfront === undefined
        ? undefined
        : upfront === 'exposure' && !parts.exposure.wasTold('exposure', { at, route: quote.route, network, isUnproven })
          ? toldOtherwise('exposure')
          : verified.canSettleUpfront
            ? undefined
            : hasToPayExactly(upfront);
    if (refusal) {
      await letGo(parts, claim, refusal.message);
      throw refusal;
    }
    isAtRisk = isUnproven && upfront === undefined;
    const ended = isAtRisk ? workEnded : () => {};
    const work = { claim, leaseUntil: options.leaseUntil, network, payer, answer: before?.answer };
    return { ...work, verified: { ...verified, upfront }, workEnded: ended };
  } finally {
    if (!isAtRisk) release();
  }
}
