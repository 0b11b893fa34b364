/** What a payment has bought already: it has that again, and nothing else. */
import { PURCHASES_PATH } from '../paths.ts';
import { mayHaveSettled } from '../store/payments/claimable.ts';
import type { Payment, Receipt, Store } from '../store/store.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';
import { settlementPending } from './conflicts.ts';
import type { Credential, Quote } from './rail.ts';
import { Refusal } from './refusal.ts';
import { requestDigest } from './request-digest.ts';
import { owedForGood, refuseSpent } from './spent.ts';

export interface Purchase {
  readonly answer: StoredAnswer;
  readonly receipt: Receipt;
}

/** An answer that was paid for before, by the payment named. */
export interface Replay extends Purchase, Pick<Payment, 'id' | 'network' | 'payer' | 'asset'> {}

/** The answer that this very payment bought. Throws Refusal where it may be given once only. */
export function boughtBefore(payment: Payment, credential: Credential, quote: Quote): Replay | undefined {
  const { id, state, answer, receipt, network, payer, asset } = payment;
  if (state !== 'settled' || !answer || !receipt) return undefined;
  if (quote.isSecret && !credential.isPrivate) {
    throw new Refusal(
      'invalid-challenge',
      `this answer holds a secret, and the chain shows all of a version 1 payment: it was given once; pay with version 2, and have what was lost on its way from GET ${PURCHASES_PATH}, by a proof of the wallet that paid`,
    );
  }
  return { id, answer, receipt, network, payer, asset };
}

interface BoughtParts {
  readonly store: Pick<Store, 'find'>;
  now(): number;
}

/** Somebody works on it, or ends it. */
export const isHeld = ({ leaseUntil }: Payment, now: number): boolean => leaseUntil > now;

/**
 * What a payment bought while its request was valid: the catalogue may have changed since. Undefined for one that never bought
 * with this request. Throws Problem where it was charged, or may be yet, and has no answer.
 */
export async function boughtWhileValid(
  { store, now }: BoughtParts,
  credential: Credential,
  quote: Quote,
): Promise<Replay | undefined> {
  const known = await store.find(credential.id);
  if (!known) return undefined;
  try {
    refuseSpent(known, credential, requestDigest(quote.request));
    if (known.state === 'owed') {
      throw owedForGood(
        known,
        'such a request is not served any more: the operator sees what is owed and has to give it back',
      );
    }
    const bought = boughtBefore(known, credential, quote);
    // Who began it comes to an end of it, or the reconciler does: who pays once more meanwhile is charged twice.
    if (!bought && (known.state === 'settled' || mayHaveSettled(known) || isHeld(known, now())))
      throw settlementPending();
    return bought;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
