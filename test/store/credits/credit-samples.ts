import { createHash } from 'node:crypto';
import type { CreditPurchase, HoldRequest, NamedCall, NewApiKey } from '../../../src/store/credits/credit-store.ts';
import type { PaymentFacts, Store } from '../../../src/store/store.ts';
import { won } from '../arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

export const sampleHash = (id: string): string => createHash('sha256').update(id).digest('hex');

export const sampleKey = (id: string, changes: Partial<NewApiKey> = {}): NewApiKey => ({
  id,
  hash: sampleHash(id),
  shown: `tp_sandbox_${id}`,
  label: `label of ${id}`,
  limits: {},
  expiresAt: undefined,
  ...changes,
});

export const sampleHold = (id: string, amount: bigint, changes: Partial<HoldRequest> = {}): HoldRequest => ({
  id,
  keyId: 'key',
  amount,
  mostHolds: 1_000,
  route: 'v1/chat/completions',
  model: 'model-1',
  owner: 'instance-1',
  now: 1_000,
  leaseUntil: 2_000,
  ...changes,
});

export const sampleName = (changes: Partial<NamedCall> = {}): NamedCall => ({
  name: 'name',
  digest: 'of what is asked',
  since: 0,
  ...changes,
});

/** A key named `key` with that balance. */
export async function addFunded(store: Store, balance: bigint, changes: Partial<NewApiKey> = {}): Promise<void> {
  const grant = { amount: balance, reference: 'start', note: 'to start with' };
  await store.credits.addKey(sampleKey('key', changes), grant, 1);
}

export async function keyOf(store: Store, id = 'key', now = 5_000) {
  const key = await store.credits.findKey(sampleHash(id), now);
  if (!key) throw new Error(`${id} should be there`);
  return key;
}

/** The sum of a key's ledger. Throws when its entries do not explain one another. */
export async function ledgerSum(store: Store, id = 'key'): Promise<bigint> {
  const entries = (await store.credits.entries(id, 100_000)).reverse();
  let sum = 0n;
  for (const [index, entry] of entries.entries()) {
    sum += entry.amount;
    if (entry.balance !== sum) throw new Error(`entry ${entry.number} says ${entry.balance}, and the sum is ${sum}`);
    if (entry.number !== index + 1) throw new Error(`entry ${index + 1} has the number ${entry.number}`);
    if (entry.balance < 0n) throw new Error(`entry ${entry.number} is below zero`);
  }
  return sum;
}

export const samplePurchase = (paymentId: string, key: CreditPurchase['key']): CreditPurchase => ({
  paymentId,
  amount: 500n,
  key,
});

/** A payment that is answered and waits to be settled; what it gives settles it. */
export async function fulfilledPayment(
  store: Store,
  id: string,
  changes: Partial<PaymentFacts> = {},
): Promise<() => Promise<unknown>> {
  const claim = await won(store, sampleFacts(id, changes), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { now: 2 });
  return () => store.settle(claim, sampleReceipt(), 3);
}
