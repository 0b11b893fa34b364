/** What the facilitator of this process needs to know of a network, and what one network does for it. */
import type { SchemeNetworkFacilitator } from '@x402/core/types';
import type { AssetFile } from '../../catalogue/types.ts';
import type { ChannelOperator } from '../channels/operator.ts';
import type { EscrowOperator } from '../escrow/escrow.ts';
import type { Attempt } from './attempt.ts';
import type { GasAccount, Kind } from './facilitator.ts';

export const MALFORMED = 'the payment cannot be read';

export interface EvmNetworkOptions {
  readonly caip2: string;
  readonly v1Name?: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  /** What is paid in. Left out: payers approve Permit2 themselves. */
  readonly asset?: AssetFile;
  /** Contracts whose wallets are deployed before they pay, at our cost. Default: none. */
  readonly walletFactories?: readonly string[] | undefined;
  /** 32 bytes in hex, with `0x`: pays the gas. Only instances that share a store of nonces may send from it. */
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

/** In milliseconds. */
export interface SettlingTimes {
  /** How long a settlement waits for its chain. */
  readonly confirmationTimeoutMs: number;
  /** How long a Solana node may take to answer. Default 10,000. */
  readonly answerTimeoutMs?: number | undefined;
  /** After how long an EVM transaction that is in no block is sent again, or replaced. Default 3,000. */
  readonly resendAfterMs?: number | undefined;
  /** How long an EVM chain may wait for one transaction before a later one goes first. Default 12,000. */
  readonly stalledAfterMs?: number | undefined;
}

/** A payment and what it is for, as x402 has them. */
export interface Asked {
  readonly version: unknown;
  /** The scheme's. */
  readonly name: unknown;
  readonly payload: object;
  readonly requirements: object;
}

/** What one payment is checked and settled by. */
export type Scheme = Pick<SchemeNetworkFacilitator, 'verify' | 'settle'>;

/** One network that this process verifies and settles on. */
export interface LocalNetwork {
  /** Throws when the chain is out of reach or not the one configured. */
  kinds(): Promise<readonly Kind[]>;
  /** The lowest price, in atomic units, that is worth settling now. Throws when the chain is out of reach. */
  least(): Promise<bigint>;
  /** What we pay from. Throws when the chain is out of reach. */
  account(): Promise<GasAccount>;
  /** What is wrong with a payment that its scheme would not say; undefined where nothing is. */
  problem(payload: object, requirements: object): string | undefined;
  /** The scheme for one payment, bound to its attempt; undefined where the network does not do it. */
  scheme({ version, name, payload, requirements }: Asked, attempt: Attempt): Scheme | undefined;
  /** Where money can be locked before the work; undefined: nowhere. It is offered only where `kinds` says so. */
  readonly escrow?: EscrowOperator;
  /** Where calls can be drawn from a deposit, likewise. */
  readonly channels?: ChannelOperator;
  /** Sees to nothing any more. */
  close(): void;
}
