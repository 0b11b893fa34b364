import type { Route } from '../../catalogue/types.ts';
import type { Settlement, Verified } from '../rail.ts';
import type { Credential } from './credential.ts';

/** What a method's own check of a proof adds to what the challenge says already. */
export type MethodVerdict = Pick<Verified, 'payer' | 'payerIsProven' | 'settlesFirst' | 'trace'>;

/** A way to pay a `charge`: one chain with one token. */
export interface ChargeMethod {
  readonly name: string;
  /** CAIP-2 id of the chain. */
  readonly network: string;
  /** Token address. */
  readonly currency: string;
  readonly decimals: number;
  readonly recipient: string;
  /** Members of `request.methodDetails`, in canonical order. */
  readonly details: Readonly<Record<string, unknown>>;
  /** How long a challenge for this route stays open, in milliseconds. */
  challengeLifetimeMs(route: Route): number;
  /**
   * Identity of a payment: what the chain's own record of it says of the challenge, so that one name stands for both
   * the challenge and the transaction. Throws Refusal `malformed-credential` for a payload that is not this method's.
   */
  identify(credential: Credential): { id: string; proof: string };
  /** Moves no money. The challenge has been checked. Throws Refusal. */
  verify(credential: Credential, route: Route): Promise<MethodVerdict>;
  /** Moves money, once. Never throws. */
  settle(credential: Credential, route: Route): Promise<Settlement>;
  /** Never throws. */
  outcome(trace: string): Promise<Settlement>;
}
