/** Where payments settle in a campaign: a chain that only this process knows, or genuine ones. */
import type { Ledger } from './ledger.ts';
import type { Answer } from './send.ts';

/** A way to pay; over x402 in version 2 and on chain-c unless it says otherwise. */
export type Method = 'exact' | 'exact of version 1' | 'upto' | 'exact on chain-e' | 'exact on Solana' | 'mpp' | 'tempo';

/** Of one purchase alone, so that every transfer is somebody's. */
export interface Wallet {
  readonly address: string;
  /** As its chain writes keys. */
  readonly privateKey: string;
}

export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  /** As the store names it. */
  readonly payment: string;
  /** Seconds since the epoch: what was signed is good until then. */
  readonly validBefore: number;
}

export interface ProofOptions {
  /** The purchase's own name, by the extension `payment-identifier`. */
  readonly identifier?: string | undefined;
}

/** The body of a request to a facilitator (x402, "Facilitator interface"). */
export interface Asked {
  readonly paymentPayload: { readonly x402Version: number; readonly payload: object };
  readonly paymentRequirements: Readonly<Record<string, unknown>> & { readonly network: string };
}

export type Verified =
  | { readonly isValid: true; readonly payer: string }
  | { readonly isValid: false; readonly invalidReason: string };

export type Settled =
  | { readonly success: true; readonly transaction: string; readonly network: string; readonly payer?: string }
  | { readonly success: false; readonly errorReason: string; readonly transaction: ''; readonly network: string };

/** A facilitator that does what it is asked to, and always answers. */
export interface Settler {
  kinds(): Promise<readonly object[]>;
  /** As the store names it. */
  nameOf(asked: Asked): string;
  verify(asked: Asked): Promise<Verified>;
  settle(asked: Asked): Promise<Settled>;
}

export interface Chains {
  /** Variables of every gateway: where it is paid. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables in which a gateway finds nodes -> the nodes' names here. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly methods: readonly Method[];
  readonly settler: Settler;
  /** The answer to a JSON-RPC request, both in JSON. */
  askNode(node: string, request: string): Promise<string>;
  /** The payment that a JSON-RPC request sends to its chain, as the store names it; undefined where it sends none. */
  sentBy(request: string): string | undefined;
  /** With enough in it. `isContract`: it has code, which takes every signature. */
  openWallet(method: Method, options: { readonly isContract: boolean }): Promise<Wallet>;
  /** Pays what a 402 asks. Throws where it does not offer the method. */
  pay(unpaid: Answer, method: Method, wallet: Wallet, options?: ProofOptions): Promise<Proof>;
  /**
   * Drops the block of the payment's transfer; what it answers puts the transfer into a later one, if that is still possible.
   * Undefined where the chain has no such transfer, or does not replace its block any more. Genuine chains replace none.
   */
  takeBack?(payment: string): (() => void) | undefined;
  /** What was signed and not used goes out of date. */
  letPass(seconds: number): Promise<void>;
  /** After that, how long gateways may take to see the end of every payment, in milliseconds. */
  readonly quietMs: number;
  readLedger(): Promise<Ledger>;
  stop(): Promise<void>;
}
