/** What drives a contract from the account that settles on its chain. */
import type { Address, Hex, PublicClient, TransactionReceipt } from 'viem';
import { type Attempt, newAttempt } from './attempt.ts';

export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

export interface EvmDriver {
  readonly chainId: number;
  /** Runs a call to the node and notes whether it answered. Rejects with short words that hold no payment. */
  noting<T>(attempt: Attempt, call: () => Promise<T>): Promise<T>;
  readonly reader: PublicClient;
  /** Who sends. */
  readonly operator: Address;
  /** Finds out what a call takes, without sending it, for what it is worth. */
  weigh(call: Call, price: bigint): Promise<unknown>;
  send(call: Call, attempt: Attempt, price: bigint): Promise<Hex>;
  waitForReceipt(hash: Hex, attempt: Attempt): Promise<TransactionReceipt>;
}

/** Sends a call and waits for its block. The attempt tells how far it came; what is turned down is told by the chain's state. */
export async function run({ noting, send, waitForReceipt }: EvmDriver, call: Call, price: bigint): Promise<Attempt> {
  const attempt = newAttempt();
  try {
    await waitForReceipt(await noting(attempt, () => send(call, attempt, price)), attempt);
  } catch {
    // Told by the attempt.
  }
  return attempt;
}

/** Whether it is in a block and was not turned down there. */
export const wentThrough = (attempt: Attempt): attempt is Attempt & { transaction: string } =>
  attempt.transaction !== undefined && !attempt.rejected;

/** True where it may be in a block yet. */
export const isOpen = ({ unreachable, sent, rejected }: Attempt): boolean => unreachable || (sent && !rejected);
