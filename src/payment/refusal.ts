import type { UpfrontReason } from './upfront-reason.ts';

/** Why a payment was not taken. Becomes the 402's problem type. */
export type RefusalKind =
  | 'payment-required'
  | 'payment-insufficient'
  | 'payment-expired'
  | 'verification-failed'
  | 'malformed-credential'
  | 'invalid-challenge';

/** A payment that is not taken: answered with a fresh challenge and the reason, which the caller reads. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** Present where this payer has to settle first: the fresh challenge offers nothing else. */
  readonly upfront: UpfrontReason | undefined;
  constructor(kind: RefusalKind, reason: string, options: { cause?: unknown; upfront?: UpfrontReason } = {}) {
    super(reason, options);
    this.name = 'Refusal';
    this.kind = kind;
    this.upfront = options.upfront;
  }
}
