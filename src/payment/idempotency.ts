/**
 * `Idempotency-Key`: a payer whose answer was lost, and who pays a fresh challenge under the same key, gets the first
 * answer and is not charged again (the Payment authentication scheme, draft 01, recommends it).
 */
import { createHash } from 'node:crypto';
import type { Payment, Store } from '../store/store.ts';
import type { Quote, VerifiedPayment } from './rail.ts';

const KEPT_MS = 86_400_000;
const LONGEST_KEY = 255;

/** Where the store keeps the payment that was made under the request's key; undefined without a usable key. */
export function idempotencyEntry({ route, request }: Quote, { payer }: VerifiedPayment): string | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '' || key.length > LONGEST_KEY) return undefined;
  // The payer is proven by now: nobody reads another's answer by guessing keys.
  const digest = createHash('sha256')
    .update(JSON.stringify([route.id, payer.toLowerCase(), key]))
    .digest('hex');
  return `idempotency:${digest}`;
}

/** The payment that was made under this entry for the same request. */
export async function paidBefore(
  store: Pick<Store, 'cached' | 'find'>,
  entry: string,
  digest: string,
  now: number,
): Promise<Payment | undefined> {
  const kept = await store.cached(entry, now - KEPT_MS);
  const payment = kept && (await store.find(kept.value));
  return payment?.requestDigest === digest ? payment : undefined;
}
