/** The struct by which the contract of x402's `batch-settlement` knows a channel: addresses and 32 bytes in hex. */
export interface ChannelConfig {
  readonly payer: string;
  /** Whose signatures vouchers need. */
  readonly payerAuthorizer: string;
  readonly receiver: string;
  /** Who claims for the receiver, and gives back: the gateway's own account. */
  readonly receiverAuthorizer: string;
  readonly token: string;
  /** Seconds between a payer's request for its deposit and the time at which it may have it. */
  readonly withdrawDelay: number;
  readonly salt: string;
}
