/** Numbers for the transactions of an account that several instances send from. */

export interface NonceRequest {
  /** Chain and address. */
  readonly account: string;
  /** The chain's own count, pending transactions included: lower numbers are used. */
  readonly atLeast: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where no number was taken since then, nobody works on an older one any more: the chain's count is the next. */
  readonly forgottenBefore: number;
}

export interface NonceStore {
  /** Milliseconds since the epoch by the clock that all who share it go by. */
  now(): number;
  /** The next number, which nobody else gets, on however many instances. */
  takeNonce(request: NonceRequest): Promise<number>;
  /** Gives back a number that was never used; it stays taken where a later one is taken already. */
  returnNonce(account: string, nonce: number): Promise<void>;
}
