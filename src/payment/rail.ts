import type { Route } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import type { StoredReceipt } from '../store/store.ts';

/** The parts of an HTTP request that a rail reads. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Query string without `?`, empty for none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's exact bytes. */
  readonly body: Buffer;
}

/** What a request costs and what it was: enough to write a challenge and to check a proof against it. */
export interface Quote {
  readonly route: Route;
  readonly amount: Money;
  readonly request: RawRequest;
}

/** Why a proof was not taken. Becomes the 402's problem type and reason. */
export type RefusalKind =
  | 'payment-required'
  | 'payment-insufficient'
  | 'payment-expired'
  | 'verification-failed'
  | 'malformed-credential'
  | 'invalid-challenge';

/** Thrown by a rail: answered with a 402, a fresh challenge and the reason, which the caller reads. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  constructor(kind: RefusalKind, reason: string, options: { cause?: unknown } = {}) {
    super(reason, options);
    this.name = 'Refusal';
    this.kind = kind;
  }
}

/** An answer ready to be sent. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Buffer;
}

/** A proof as it was read: decoded and bounded, but nothing in it is believed yet. */
export interface Proof {
  /** See PaymentFacts.id. */
  readonly id: string;
  /** See PaymentFacts.fingerprint. */
  readonly fingerprint: string;
  /** False where everything in the proof can be read off the chain once it is settled, as with x402 version 1. */
  readonly isPrivate: boolean;
}

/** A proof that was found good for a quote. No money has moved. */
export interface Verified<P extends Proof = Proof> {
  readonly proof: P;
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** Atomic units that the proof allows. */
  readonly amount: bigint;
  /** True where the authorization would not outlive the endpoint's deadline: settle before the upstream call. */
  readonly settlesFirst: boolean;
  /** True where the payer has been proven already, and not only the chain will. */
  readonly payerIsProven: boolean;
  /** What `outcome` needs, as JSON. No signatures. */
  readonly trace: string;
}

/** How a settlement ended. `unknown`: no answer in time, so the chain must be asked. */
export type Settlement =
  | { state: 'settled'; receipt: StoredReceipt }
  /** `spent`: the authorization was used before, perhaps by an attempt of ours whose answer was lost. */
  | { state: 'refused'; reason: string; spent?: true }
  | { state: 'unknown'; reason: string };

/** A way to pay. */
export interface Rail<P extends Proof = Proof> {
  readonly name: 'x402' | 'mpp';
  /** Undefined when the request carries no proof. Throws Refusal for a malformed one, Problem for several. */
  read(request: RawRequest): P | undefined;
  /** The 402. `invalidParams` tells of an invalid unpaid body. */
  challenge(quote: Quote, refusal?: Refusal, invalidParams?: readonly object[]): Answer;
  /** Moves no money. Throws Refusal. */
  verify(proof: P, quote: Quote): Promise<Verified<P>>;
  /** Moves money, once. Never throws. `amount` is at most what the proof allows. */
  settle(payment: Verified<P>, quote: Quote, amount: Money): Promise<Settlement>;
  /** Asks the chain about a payment whose settlement had no answer. Never throws. */
  outcome(trace: string): Promise<Settlement>;
}
