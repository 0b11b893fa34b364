/**
 * Names under which one payment buys. `Idempotency-Key`: a payer whose answer was lost, and who pays a fresh challenge
 * under the same key, gets the first answer and is not charged again (the Payment authentication scheme, draft 01,
 * recommends it). An identifier in the payment itself: any other payment with it is refused.
 */
import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Payment, SharedKey } from '../store/store.ts';
import type { Replay } from './bought.ts';
import type { Credential, Quote, VerifiedPayment } from './rail.ts';

/** How long an `Idempotency-Key` and an identifier have their meaning. */
export const KEY_KEPT_MS = 86_400_000;

/**
 * The keys under which the store has the payment; none without the header, or where neither the payer nor who acts for it is
 * proven. A key pair has its address on every chain, a contract on its own alone: on another it may be somebody else's.
 */
export function sharedKeys(
  { route, request }: Quote,
  { payer, signer = payer, caller, payerIsProven, holder, network }: VerifiedPayment,
  now: number,
): SharedKey[] {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return [];
  const owner = payerIsProven ? signer : caller;
  // Nobody reads another's answer by guessing keys.
  if (owner === undefined) return [];
  const everywhere = [route.id, owner.toLowerCase(), key];
  const here = [...everywhere, network];
  // Both: who looks like a contract while the chain cannot be asked has its own answer there all the same.
  const names = holder.isContract && !holder.isDelegated ? [here] : [everywhere, here];
  return names.map((name) => ({ name: named('idempotency', name), since: now - KEY_KEPT_MS }));
}

const named = (kind: string, name: unknown): string =>
  `${kind}:${createHash('sha256').update(JSON.stringify(name)).digest('hex')}`;

/** The key of a credential that names its purchase. It can be asked for before the payer is proven. */
export const identifierKey = ({ identifier }: Credential, now: number): SharedKey | undefined =>
  identifier === undefined ? undefined : { name: named('identifier', identifier), since: now - KEY_KEPT_MS };

export const identifierTaken = (): Problem =>
  new Problem(
    'identifier_taken',
    'Another payment came with this payment-identifier: nothing was charged, send that one again or take a new id',
  );

/**
 * What the payment that has the key bought. Throws Problem: `invalid_request` where it was for another request, and
 * `payment_in_progress` while it has not ended.
 */
export function answerUnderKey(
  { id, state, answer, receipt, requestDigest, network, payer, asset }: Payment,
  digest: string,
): Replay {
  if (requestDigest !== digest) {
    throw new Problem(
      'invalid_request',
      'This Idempotency-Key belongs to another request: nothing was charged, take a new key for this one',
    );
  }
  if (state === 'settled' && answer && receipt) return { id, answer, receipt, network, payer, asset };
  throw new Problem(
    'payment_in_progress',
    'An earlier payment under this Idempotency-Key has not ended: nothing was charged, send this one again in a moment',
    { headers: { 'retry-after': '5' } },
  );
}
