/** How a call can end. Nothing of it is thrown but what is wrong with the program itself. */
import type { ProblemCode, ProblemDetail } from '../errors.ts';
import type { LimitReached } from './limits.ts';

/** What was signed for a call. */
export interface Paid {
  /** Dollars, as a decimal string. */
  readonly price: string;
  /** Atomic units of the asset. */
  readonly amount: string;
  readonly asset: string;
  /** Neutral id of the network. */
  readonly network: string;
  readonly payTo: string;
}

export interface Receipt {
  /** As the chain calls it. Of a call that is drawn from a deposit: that of the deposit, or the channel's name. */
  readonly transaction: string;
  /** CAIP-2 id. */
  readonly network: string;
  /** Dollars that a call drawn from a deposit was charged, by the gateway's word; undefined elsewhere. */
  readonly charged?: string;
}

export interface Success<Result> {
  readonly ok: true;
  readonly status: number;
  readonly result: Result;
  /** Undefined where nothing was charged, or the gateway gave none. */
  readonly receipt: Receipt | undefined;
  /** Undefined where nothing was signed. */
  readonly paid: Paid | undefined;
}

/**
 * The gateway's own code for a problem (README, "Errors"), or one of the client's: `payment_required`, `payment_refused`
 * (402 before and after a payment), `limit_reached`, `not_signed`, `no_answer`, `unreadable_answer`, `redirected`.
 */
export type Code =
  | ProblemCode
  | 'payment_required'
  | 'payment_refused'
  | 'limit_reached'
  | 'not_signed'
  | 'no_answer'
  | 'unreadable_answer'
  | 'redirected'
  // What a later gateway has besides.
  | (string & {});

interface Failed {
  readonly ok: false;
  /** 0 where nothing was answered. */
  readonly status: number;
  readonly code: Code;
  /** For people. */
  readonly message: string;
  readonly details: readonly ProblemDetail[];
  /** To quote when asking the gateway's operator for help. */
  readonly requestId: string | undefined;
}

/** The request is wrong, as `details` tells, or its price could not be paid as it is asked for: nothing was signed. */
interface NotPaid extends Failed {
  readonly reason: 'invalid' | 'unpaid';
}

/** It costs more than a limit allows: nothing was signed. */
interface OverLimit extends Failed {
  readonly reason: 'limit';
  readonly limit: LimitReached;
}

/**
 * `refused`: the payment was not taken, or the provider does not work on this content. `failed`: the gateway or its provider
 * could not do it. The gateway says that nothing was charged, or that it was given back. `paid` is what was signed, if
 * anything; `isCounted`: it counts towards the total all the same.
 */
interface NotDone extends Failed {
  readonly reason: 'refused' | 'failed';
  readonly paid: Paid | undefined;
  readonly isCounted: boolean;
}

/** Signed, maybe charged, and without a result so far. */
interface Owed<Result> extends Failed {
  readonly reason: 'owed';
  readonly paid: Paid;
  readonly isCounted: true;
  /** Sends the same payment again: it is never charged twice. A signal of the call itself is not asked any more. */
  again: Again<Result>;
}

/** `signal` ends the waiting; what was signed is `owed` as before. */
export type Again<Result> = (options?: { readonly signal?: AbortSignal }) => Promise<Answer<Result>>;

export type Failure<Result> = NotPaid | OverLimit | NotDone | Owed<Result>;

export type Answer<Result> = Success<Result> | Failure<Result>;
