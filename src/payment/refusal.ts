import type { UpfrontReason } from './upfront-reason.ts';

/** Why a payment was not taken. Becomes the 402's problem type. */
export type RefusalKind =
  | 'payment-required'
  | 'payment-insufficient'
  | 'payment-expired'
  | 'verification-failed'
  | 'malformed-credential'
  | 'invalid-payload'
  | 'invalid-challenge';

/** A payment that was found good and could not be settled. */
export interface FailedSettlement {
  /** See `VerifiedPayment.recoveryQuery`. */
  readonly recoveryQuery: string;
  readonly reason: string;
}

/**
 * What a client needs to sign the right thing: members of `extra` of its scheme's offer on the network, and a code of the scheme if
 * it has one for that.
 */
export interface Correction {
  readonly code: string | undefined;
  readonly network: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A payment that is not taken: answered with a fresh challenge and the reason, which the caller reads. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** Present where this payer has to settle first: the fresh challenge offers nothing else. */
  readonly upfront: UpfrontReason | undefined;
  /** Present where it was refused only when it was to be settled: some rails have a receipt for that. */
  readonly settlement: FailedSettlement | undefined;
  /** Present where its scheme's clients read the reason from a code. */
  readonly correction: Correction | undefined;
  /** Its money has been sent already: a wallet that is shown a price again would send it once more. */
  readonly isSent: boolean;
  constructor(
    kind: RefusalKind,
    reason: string,
    options: {
      cause?: unknown;
      upfront?: UpfrontReason;
      settlement?: FailedSettlement;
      correction?: Correction;
      isSent?: boolean;
    } = {},
  ) {
    const { settlement, upfront, correction, isSent = false, ...others } = options;
    super(reason, others);
    this.name = 'Refusal';
    this.kind = kind;
    this.upfront = upfront;
    this.settlement = settlement;
    this.correction = correction;
    this.isSent = isSent;
  }
}
