import type { Claim, ClaimOptions, Payment, PaymentFacts, Store } from '../../src/store/store.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

/** Claims what can be claimed. */
export async function won(store: Store, facts: PaymentFacts, options: ClaimOptions): Promise<Claim> {
  const outcome = await store.claim(facts, options);
  if (!outcome.won) throw new Error(`${facts.id} should have been won, but is ${outcome.payment.state}`);
  return outcome.claim;
}

export async function existing(store: Store, id: string): Promise<Payment> {
  const payment = await store.find(id);
  if (!payment) throw new Error(`${id} should be there`);
  return payment;
}

/** Claimed, answered and settled. */
export async function finished(store: Store, id: string): Promise<Claim> {
  const claim = await won(store, sampleFacts(id), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { cost: '7', now: 2 });
  await store.settle(claim, sampleReceipt(), 3);
  return claim;
}

type Arrive = (store: Store, id: string) => Promise<unknown>;

/** Ways to a payment that the same request may claim at time 1,000. */
export const claimable = {
  claimed: (store, id) => won(store, sampleFacts(id), claimAt(1)),
  async fulfilled(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.fulfil(claim, sampleAnswer(), { cost: '7', now: 2 });
  },
  async settled(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.settle(claim, sampleReceipt(), 2);
  },
  async released(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.giveUp(claim, 'released', 'upstream_failed', 2);
  },
  async owed(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.settle(claim, sampleReceipt(), 2);
    await store.giveUp(claim, 'owed', 'upstream_failed', 3);
  },
} satisfies Record<string, Arrive>;

/** Ways to a payment that nobody may claim. */
export const unclaimable = {
  finished,
  async unsettled(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    await store.giveUp(claim, 'unsettled', 'insufficient funds', 3);
  },
  async unknown(store, id) {
    const claim = await won(store, sampleFacts(id), claimAt(1));
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    await store.giveUp(claim, 'unknown', 'no answer in time', 3);
  },
} satisfies Record<string, Arrive>;
