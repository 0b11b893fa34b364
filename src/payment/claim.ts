/** The claim step: what makes one payment buy at most one upstream call at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '../errors.ts';
import type { Claim, Payment, PaymentFacts, Store, StoredAnswer, StoredReceipt } from '../store/store.ts';
import { answerUnderKey, sharedKey } from './idempotency.ts';
import { whatBecame } from './orphan.ts';
import { type Proof, type Quote, type Rail, Refusal, type Verified } from './rail.ts';

export interface ClaimParts {
  readonly store: Store;
  /** Names this instance. */
  readonly owner: string;
  now(): number;
}

/** A claim on somebody's payment dies this long after its instance did. */
export const LEASE_MS = 30_000;

/** A payment whose upstream failed may be used this many times in all. */
export const MAX_ATTEMPTS = 3;

/** What is owed is tried more often, for it has been paid, but not without end: then the operator gives it back. */
const MAX_OWED_ATTEMPTS = 20;

/** How long a second request with the same payment waits for the first before it is told to come back. */
const WAIT_MS = 25_000;

/** A payment that this request may work on. */
export interface Work<P extends Proof = Proof> {
  readonly claim: Claim;
  /** The network that pays. */
  readonly network: string;
  /** Undefined where the payment has settled already: nothing is left to check. */
  readonly verified: Verified<P> | undefined;
  /** Present where an earlier attempt settled. */
  readonly receipt: StoredReceipt | undefined;
  /** Present where an earlier attempt got its answer. */
  readonly answer: StoredAnswer | undefined;
}

/** Either work to do, or an answer that was paid for before. */
export type Claimed<P extends Proof = Proof> =
  | { readonly kind: 'work'; readonly work: Work<P> }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer; readonly receipt: StoredReceipt };

const facts = (rail: string, { route }: Quote, verified: Verified, binding: string): PaymentFacts => ({
  id: verified.proof.id,
  rail,
  network: verified.network,
  asset: verified.asset,
  payer: verified.payer,
  payTo: verified.payTo,
  amount: verified.amount.toString(),
  route: route.id,
  binding,
  fingerprint: verified.proof.fingerprint,
  trace: verified.trace,
  settlesFirst: verified.settlesFirst,
});

const isHeld = (payment: Payment, now: number): boolean =>
  (payment.state === 'claimed' || payment.state === 'fulfilled' || payment.state === 'settled') &&
  payment.leaseUntil > now;

const inProgress = () =>
  new Problem('payment_in_progress', 'This payment is being worked on: send the same request again in a moment', {
    headers: { 'retry-after': '5' },
  });

const pending = () =>
  new Problem('settlement_pending', 'The chain has not confirmed this payment yet: send the same request again', {
    headers: { 'retry-after': '3' },
  });

const answeredOnce = () =>
  new Refusal(
    'invalid-challenge',
    'this answer holds a secret, and the chain shows all of a version 1 payment: it was given once; pay with version 2',
  );

const owedForGood = () =>
  new Problem(
    'result_owed',
    'Paid, but the provider goes on failing: the operator sees what is owed and has to give it back',
  );

/** Throws when the payment stands in a state that no request can change. */
function refuseSpent(payment: Payment, proof: Proof, binding: string): void {
  if (payment.fingerprint !== proof.fingerprint) {
    throw new Refusal('invalid-challenge', 'this authorization has been used: sign a new one');
  }
  if (payment.binding !== binding) {
    throw new Refusal('invalid-challenge', 'this payment belongs to another request: sign a new one for this one');
  }
  if (payment.state === 'unsettled') {
    throw new Refusal('verification-failed', `this payment could not be settled (${payment.reason}): sign a new one`);
  }
  if (payment.state === 'released' && payment.attempt >= MAX_ATTEMPTS) {
    throw new Refusal(
      'invalid-challenge',
      `this payment was tried ${MAX_ATTEMPTS} times and never charged: sign a new one`,
    );
  }
  if (payment.state === 'owed' && payment.attempt >= MAX_OWED_ATTEMPTS) throw owedForGood();
}

/** Asks the chain about a payment whose settlement had no answer. Throws Problem `settlement_pending` while it is open. */
async function resolveUnknown(payment: Payment, rail: Rail, { store, now }: ClaimParts): Promise<void> {
  const outcome = await rail.outcome(payment.trace);
  if (outcome.state === 'unknown') throw pending();
  await store.resolve(
    payment.id,
    outcome.state === 'settled' ? { settled: outcome.receipt } : { unsettled: outcome.reason },
    now(),
  );
}

/** A proof that looks spent may be so by our own attempt whose end nobody saw: that is no reason to pay again. */
async function verifyAgain<P extends Proof>(rail: Rail<P>, proof: P, quote: Quote): Promise<Verified<P>> {
  try {
    return await rail.verify(proof, quote);
  } catch (error) {
    throw error instanceof Refusal ? pending() : error;
  }
}

/**
 * Verifies the proof and claims its payment for this request. `binding` is the digest of method, path, query and body.
 * Throws Refusal (402) and Problem (409).
 */
export async function claimPayment<P extends Proof>(
  parts: ClaimParts,
  rail: Rail<P>,
  proof: P,
  quote: Quote,
  binding: string,
): Promise<Claimed<P>> {
  const { store, owner, now } = parts;
  const waitUntil = now() + WAIT_MS;
  let pause = 20;
  for (;;) {
    const payment = await store.find(proof.id);
    if (payment) {
      refuseSpent(payment, proof, binding);
      if (payment.state === 'settled' && payment.answer && payment.receipt) {
        if (quote.route.endpoint.secret && !proof.isPrivate) throw answeredOnce();
        return { kind: 'replay', answer: payment.answer, receipt: payment.receipt };
      }
      if (payment.state === 'unknown') {
        await resolveUnknown(payment, rail, parts);
        continue;
      }
      if (isHeld(payment, now())) {
        if (now() >= waitUntil) throw inProgress();
        await delay(pause);
        pause = Math.min(pause * 2, 250);
        continue;
      }
    }
    const became = payment && (await whatBecame(payment, rail));
    const receipt = became?.state === 'settled' ? became.receipt : undefined;
    const verify = () => (became?.state === 'unknown' ? verifyAgain(rail, proof, quote) : rail.verify(proof, quote));
    const verified = receipt ? undefined : await verify();
    const key = verified && sharedKey(quote, verified, now());
    const claimFacts = verified ? facts(rail.name, quote, verified, binding) : payment;
    if (!claimFacts) throw new Error('a payment that was not verified has no receipt');
    const outcome = await store.claim(claimFacts, {
      owner,
      now: now(),
      leaseUntil: now() + LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      maxOwedAttempts: MAX_OWED_ATTEMPTS,
      ...(key && { key }),
    });
    if (!outcome.won) {
      if (outcome.payment.id === proof.id) continue;
      return { kind: 'replay', ...answerUnderKey(outcome.payment, binding) };
    }
    const { claim, before } = outcome;
    if (receipt && !before?.receipt) await store.settle(claim, receipt, now());
    return {
      kind: 'work',
      work: { claim, network: claimFacts.network, verified, receipt, answer: before?.answer },
    };
  }
}
