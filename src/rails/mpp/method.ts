import type { Settlement } from '../../on-chain/settlement.ts';
import type { Quote, VerifiedPayment } from '../../payment/rail.ts';
import type { UpfrontReason } from '../../payment/upfront-reason.ts';
import type { PaymentCredential } from './credential.ts';

/** What a method's own check of a credential adds to what its challenge says already. */
export type MethodVerdict = Pick<
  VerifiedPayment,
  'chain' | 'payer' | 'holder' | 'caller' | 'payerIsProven' | 'upfront' | 'isCovered' | 'recoveryQuery' | 'settle'
>;

/** What is paid for, as far as it matters to a way to pay. */
export type Work = Pick<Quote, 'deadlineMs'>;

/** A way to pay a `charge`: one chain with one token. */
export interface ChargeMethod {
  readonly name: string;
  /** See VerifiedPayment.network. */
  readonly network: string;
  /** Token address. */
  readonly currency: string;
  readonly decimals: number;
  readonly recipient: string;
  /** Members of `request.methodDetails`, in canonical order. */
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * Members of `request.methodDetails` by which nobody may send the money by himself: they come after `paymentFlow` (JCS).
   * Left out: nobody may anyway.
   */
  readonly unsentOnly?: Readonly<Record<string, unknown>>;
  /** Whether it can be paid at the moment. Left out: it always can. */
  isOpen?(): boolean;
  /** The lowest price, in atomic units, that is worth settling now. */
  leastPrice(): bigint;
  /** How long a challenge for such work stays open, in milliseconds. */
  challengeLifetimeMs(work: Work): number;
  /** Why every payment of this method for such work settles first: told in the challenge. */
  upfront(work: Work): UpfrontReason | undefined;
  /** Where a payment that is good for less settles first: seconds, told in the challenge. */
  leastSecondsLeft(work: Work): number | undefined;
  /**
   * Identity of a payment: what the chain's own record of it says of the challenge, so that one name stands for both
   * the challenge and the transaction. `shown` is what everybody can read off the chain once it has settled. Throws
   * Refusal `malformed-credential` for a payload that is not this method's.
   */
  identify(credential: PaymentCredential): { readonly id: string; readonly shown: string };
  /** Moves no money. The challenge has been checked; `settlesNow`: before the work, or after it was done. Throws Refusal. */
  verify(credential: PaymentCredential, work: Work, settlesNow: boolean): Promise<MethodVerdict>;
  /** Asks the chain what became of a payment. Never throws. */
  recover(recoveryQuery: string): Promise<Settlement>;
  /** See `Rail.confirmations`. */
  confirmations(transaction: string): Promise<number>;
}
