/** What an address got of a token, read from its chain. */
import type { Atomic } from '../../money.ts';
import type { Rpc } from './rpc.ts';

export interface Incoming {
  /** Hash or signature of the transaction. */
  readonly transaction: string;
  readonly amount: Atomic;
  /** Whose tokens they were. */
  readonly payer: string;
}

/** A token on a chain, and the address that gets it. */
export interface TokenHolder {
  readonly asset: string;
  readonly payTo: string;
}

/** How a family of chains is asked. Everything throws where the chain cannot be asked, or not in full. */
export interface IncomingReader {
  /** What came in in the period, by the chain's clock, in milliseconds since the epoch; `to` is not part of it. */
  between(rpc: Rpc, holder: TokenHolder, from: number, to: number): AsyncIterable<Incoming>;
  /** What came in with a transaction: empty where the chain does not have it, or nothing came. */
  with(rpc: Rpc, holder: TokenHolder, transaction: string): Promise<readonly Incoming[]>;
}
