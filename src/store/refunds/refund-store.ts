/**
 * Money that is given back. A refund is written down first, in the transaction that looks at what the payment has left,
 * and sent afterwards by whichever instance takes it. What is about to be sent is written down before it is sent, so
 * that whoever goes on after a crash asks the chain first. A payment whose result was owed is at its end with its refund:
 * no request can have the result any more.
 */

import type { PaymentState } from '../payments/states.ts';
import type { Period } from '../period.ts';

export type RefundState = 'wanted' | 'sending' | 'sent';

export interface Refund {
  readonly paymentId: string;
  /** 1 for the payment's first refund. */
  readonly number: number;
  /** As the payment has them. */
  readonly network: string;
  readonly asset: string;
  readonly payee: string;
  /** Atomic units. */
  readonly amount: string;
  readonly reason: string;
  /** False where an operator asked for it. */
  readonly isAutomatic: boolean;
  /** What an operator names it by; undefined where nobody did. */
  readonly reference: string | undefined;
  readonly state: RefundState;
  /** Times that an instance took it. Writes of an older attempt are refused. */
  readonly attempt: number;
  /** What has to be known to ask the chain about the last transfer, as JSON. No signatures. */
  readonly recoveryQuery: string | undefined;
  /** Why it is not sent yet, in words for the operator. */
  readonly fault: string | undefined;
  readonly transaction: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface RefundRequest {
  readonly paymentId: string;
  /** Atomic units; left out: all that was not given back yet. */
  readonly amount?: bigint;
  readonly reason: string;
  readonly isAutomatic: boolean;
  /** With the same one the payment is given back once. */
  readonly reference?: string;
  /** What the payment was when somebody decided it; left out: whatever it is. */
  readonly seen?: PaymentState;
  readonly now: number;
}

/**
 * Why nothing is given back: the payment is not known; nothing was taken; a request is being worked on, or nobody knows yet
 * whether money moved; it is not what it was seen as; its result was delivered, and no operator asks for it; it bought
 * credits, which its payer would keep; nothing was asked for; less is left than was asked for; what is owed can only be given
 * back whole; another amount was given back under the reference.
 */
export type RefundRefusal =
  | 'unknown'
  | 'unpaid'
  | 'in-progress'
  | 'changed'
  | 'delivered'
  | 'credits'
  | 'nothing'
  | 'too-much'
  | 'whole-only'
  | 'reference';

/** `left`: atomic units that could be given back still. */
export type RefundOutcome = { readonly refund: Refund } | { readonly refused: RefundRefusal; readonly left: bigint };

type Attempt = Pick<Refund, 'paymentId' | 'number' | 'attempt'>;

export interface RefundStore {
  /** Writes it down, or answers what its reference has. All refunds of a payment never come to more than was taken. */
  want(request: RefundRequest): Promise<RefundOutcome>;
  /** Takes refunds that are not sent and that nobody works on: `limit` of each network, those first that were tried longest ago. */
  take(by: { owner: string; now: number; leaseUntil: number; limit: number }): Promise<Refund[]>;
  /** Before anything is sent. False where another instance has it by now: then nothing may be sent. */
  sending(attempt: Attempt, recoveryQuery: string, now: number): Promise<boolean>;
  /** The money has moved, whoever has the refund by now. False where that was known. */
  sent(refund: Pick<Refund, 'paymentId' | 'number'>, transaction: string, now: number): Promise<boolean>;
  /**
   * An operator has sent it, so that no instance does. False where that was known, or where an instance is sending it, or
   * died while it was: then the chain is asked first.
   */
  sentByHand(refund: Pick<Refund, 'paymentId' | 'number'>, transaction: string, now: number): Promise<boolean>;
  /** Why it is not sent. It is seen to again once the lease has run out: what may be on its way is asked for first. */
  failed(attempt: Attempt, fault: string, now: number): Promise<boolean>;
  /** All of a payment, in their order. */
  of(paymentId: string): Promise<Refund[]>;
  /** Those that were sent in a period, in the order in which they were; `after`: the last one of the page before. */
  sentIn(page: Period & { readonly after: Refund | undefined; readonly limit: number }): Promise<Refund[]>;
  /** Those that are not sent, oldest first. */
  open(limit: number): Promise<Refund[]>;
  /** Newest first. */
  list(filter: { states?: readonly RefundState[]; limit: number }): Promise<Refund[]>;
}
