/** A signed payment. It stays in this tab: whoever has it can have this one request paid. */
export interface SignedPayment {
  /** The account that pays. */
  readonly from: string;
  /** To be sent with the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** It is locked before the work. */
  readonly isLocked?: true;
  /** Undefined where it is not drawn from a deposit. */
  readonly drawn?: DrawnPayment;
}

type Post = (headers: Readonly<Record<string, string>>) => Promise<Response>;

/** What a payment from a deposit has to do besides being sent. */
export interface DrawnPayment {
  /** Atomic units that were deposited for it; 0: nothing. */
  readonly deposited: bigint;
  /** Sends it, with another voucher where the gateway tells that the deposit stands otherwise, and keeps what is answered. */
  send(post: Post): Promise<Response>;
  /** Dollars that it was charged, by the last answer. */
  charged(): string | undefined;
  /** The gateway says that nothing was charged: the next call is paid with the same money. */
  free(): Promise<void>;
  /** It is not sent again: another tab may draw from the deposit. */
  leave(): void;
}
