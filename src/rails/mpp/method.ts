import type { Route } from '../../catalogue/types.ts';
import type { VerifiedPayment } from '../../payment/rail.ts';
import type { Settlement } from '../../settlement.ts';
import type { PaymentCredential } from './credential.ts';

/** What a method's own check of a credential adds to what its challenge says already. */
export type MethodVerdict = Pick<
  VerifiedPayment,
  'payer' | 'holder' | 'payerIsProven' | 'settleUpfront' | 'recoveryQuery' | 'settle'
>;

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
  /** True where what a payer signs does not outlive the route's work: the payment settles first. */
  settlesUpfront(route: Route): boolean;
  /**
   * Identity of a payment: what the chain's own record of it says of the challenge, so that one name stands for both
   * the challenge and the transaction. `shown` is what everybody can read off the chain once it has settled. Throws
   * Refusal `malformed-credential` for a payload that is not this method's.
   */
  identify(credential: PaymentCredential): { readonly id: string; readonly shown: string };
  /** Moves no money. The challenge has been checked. Throws Refusal. */
  verify(credential: PaymentCredential, route: Route): Promise<MethodVerdict>;
  /** Asks the chain what became of a payment. Never throws. */
  recover(recoveryQuery: string): Promise<Settlement>;
  /** See `Rail.confirmations`. */
  confirmations(transaction: string): Promise<number>;
}
