/**
 * What a payer signed, whichever rail brought it. One file for each kind knows all about it: how it is read, what
 * identifies it, what can be checked without its chain, what a facilitator gets, how long it is good, and how it is
 * found on its chain.
 */

import type { Atomic } from '../../money.ts';

/** What a payment has to pay. */
export interface Terms {
  /** CAIP-2 id of the chain. */
  readonly chain: string;
  /** Token address. */
  readonly asset: string;
  readonly payTo: string;
  readonly amount: Atomic;
}

export interface Authorization {
  /** Its name in recovery queries, and the x402 scheme that settles it. */
  readonly kind: 'eip3009' | 'permit2' | 'solana' | 'auth-capture' | 'batch-settlement';
  readonly scheme: 'exact' | 'upto' | 'auth-capture' | 'batch-settlement';
  /**
   * The identity of the payment: what the chain itself remembers of the authorization, so that it is the same on every
   * rail and however it was encoded, and different for any other.
   */
  identity(chain: string, asset: string): string;
  /** Whose money it moves: an address, or on Solana the wallet that owns the token account. */
  readonly payer: string;
  /** True where its wallet may not exist on the chain yet: the signature says how it is deployed (ERC-6492). */
  readonly isCounterfactual?: boolean;
  /** What everybody can read off the chain once it is settled. */
  readonly shown: string;
  /** Milliseconds since the epoch; undefined where only the chain knows. */
  readonly endsAt: number | undefined;
  /** What can be known without the chain. Facilitators check it again, but answer in codes. Throws Refusal. */
  check(terms: Terms, now: number): void;
  /** x402's `payload`, made anew from what was read: nothing goes to a facilitator that was not checked here. */
  readonly payload: object;
  /** What has to be known to find it on its chain later: JSON members, no signatures. */
  recoveryQuery(terms: Terms): { readonly kind: Authorization['kind'] } & Readonly<Record<string, unknown>>;
}
