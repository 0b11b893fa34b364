/** A payment that is signed and not sent yet. It stays in memory: whoever has it can have this one request paid. */
export interface SignedPayment {
  /** The account that pays. */
  readonly from: string;
  /** To be sent with the request. */
  readonly headers: Readonly<Record<string, string>>;
}
