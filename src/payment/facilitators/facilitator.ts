/** Who checks and executes x402 payments: in process (`local.ts`) or over HTTP (`remote.ts`, `coinbase.ts`). */

import type { Settlement, Transfer } from '../../on-chain/settlement.ts';
import type { ChannelOperator } from '../channels/operator.ts';
import type { EscrowOperator } from '../escrow/escrow.ts';
import type { Verdict } from '../verdict.ts';

/** Something a facilitator can verify and settle (x402 `GET /supported`). */
export interface Kind {
  readonly x402Version: number;
  readonly scheme: string;
  /** CAIP-2 in version 2, a name such as `base` in version 1. */
  readonly network: string;
  /** What a client needs to sign, e.g. Solana's `feePayer`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** True where the payer may approve Permit2 by a permit (EIP-2612), which we hand in with the payment. */
  readonly takesApprovals?: boolean;
  /** What of the operator's configuration for it cannot be used at the moment, and why. */
  readonly notice?: string | undefined;
}

/** What settling is paid from. */
export interface GasAccount {
  readonly address: string;
  /** Atomic units of the chain's own coin. */
  readonly balance: bigint;
  readonly decimals: 9 | 18;
  /** How many settlements it lasts for at the fees of the moment. */
  readonly lasts: bigint;
}

/** With what the facilitator says of it besides. */
export interface FacilitatorTransfer extends Transfer {
  readonly network: string;
  readonly payer?: string;
}

/** What an answer may take where the caller sets no other limit. */
export const VERIFY_TIMEOUT_MS = 10_000;
/** A settlement waits for its chain. */
export const SETTLE_TIMEOUT_MS = 30_000;

/**
 * `payload` and `requirements` are x402 objects as they are on the wire, of version 1 or 2; the payload's
 * `x402Version` says which (version 1 requirements have `maxAmountRequired` and version 1 network names).
 */
export interface Facilitator {
  /** Throws FacilitatorUnreachable. Networks whose chain is out of reach are left out. */
  supported(): Promise<readonly Kind[]>;
  /** Moves no money. Throws FacilitatorUnreachable. */
  verify(payload: object, requirements: object, signal?: AbortSignal): Promise<Verdict>;
  /**
   * Moves money, once. `refused` only where it is certain that the payment is not settled later. Never throws.
   */
  settle(payload: object, requirements: object, signal?: AbortSignal): Promise<Settlement<FacilitatorTransfer>>;
  /**
   * By CAIP-2 id, the lowest price in atomic units that is worth settling there now; networks whose chain is out of reach
   * are left out. The method is not there where settling costs us nothing.
   */
  leastPrices?(): Promise<ReadonlyMap<string, bigint>>;
  /**
   * By CAIP-2 id, the accounts of ours that pay for settling; networks whose chain is out of reach, or says nothing for so
   * long, are left out. The method is not there where another pays.
   */
  accounts?(patienceMs: number): Promise<ReadonlyMap<string, GasAccount>>;
  /** Who drives the escrow of a chain, by its CAIP-2 id; `supported` says on which there is one. */
  escrow?(caip2: string): Promise<EscrowOperator | undefined>;
  /** Who drives the payment channels of a chain, likewise. */
  channels?(caip2: string): Promise<ChannelOperator | undefined>;
  /** Lets go of connections. */
  close(): Promise<void>;
}

/** The payment could be neither accepted nor refused. The message holds no payment and no address with a key. */
export class FacilitatorUnreachable extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'FacilitatorUnreachable';
  }
}
