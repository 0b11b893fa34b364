/** What the facilitator of this process needs to know of a network, and what one network does for it. */
import type { SchemeNetworkFacilitator } from '@x402/core/types';
import type { Attempt } from './attempt.ts';
import type { Kind } from './facilitator.ts';

export const MALFORMED = 'the payment cannot be read';

export interface EvmNetworkOptions {
  readonly caip2: string;
  readonly v1Name?: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  /**
   * 32 bytes in hex, with `0x`: pays the gas. Nothing else may send from it: every instance of the gateway
   * needs a key of its own, for two would take one nonce.
   */
  readonly privateKey: string;
  /** Atomic units of the paid asset that one coin of the chain is worth at most; 0: settling's cost is not weighed. */
  readonly nativeValue: bigint;
}

export interface SolanaNetworkOptions {
  readonly caip2: string;
  readonly v1Name?: string;
  readonly rpcUrl: string;
  /** Base58 of the 64 bytes: pays the fees. */
  readonly secretKey: string;
  /** Atomic units of the paid asset that one coin of the chain is worth at most; 0: settling's cost is not weighed. */
  readonly nativeValue: bigint;
}

/** A payment and what it is for, as x402 has them. */
export interface Asked {
  readonly version: unknown;
  /** The scheme's. */
  readonly name: unknown;
  readonly payload: object;
  readonly requirements: object;
}

/** One network that this process verifies and settles on. */
export interface LocalNetwork {
  /** Throws when the chain is out of reach or not the one configured. */
  kinds(): Promise<readonly Kind[]>;
  /** What is wrong with a payment that its scheme would not say; undefined where nothing is. */
  problem(payload: object, requirements: object): string | undefined;
  /** The scheme for one payment, bound to its attempt; undefined where the network does not do it. */
  scheme({ version, name, payload, requirements }: Asked, attempt: Attempt): SchemeNetworkFacilitator | undefined;
}
