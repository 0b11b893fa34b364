/** When vouchers are claimed, in milliseconds. */
export interface ClaimIntervals {
  /** How often it is looked for what is due. */
  readonly everyMs: number;
  /** What is charged waits no longer than that: a quarter of the time in which its payer could have its deposit back. */
  readonly afterMs: number;
  /** Longer than a chain is waited for: who has taken channels and died leaves them to others. */
  readonly takenMs: number;
  /** How old what is known of a channel may be: its payer asks the contract for its deposit, and has it a day later. */
  readonly readEveryMs: number;
}

/** How long claims hold and how soon somebody looks after them, in milliseconds. Whoever starts a gateway may set it. */
export interface Intervals {
  /** A claim on somebody's payment dies this long after its instance did. */
  readonly leaseMs: number;
  /** How long a second request with the same payment waits for the first before it has to come back. */
  readonly waitMs: number;
  /** How often payments are looked for whose end nobody saw. */
  readonly reconcileEveryMs: number;
  /** After the end of its lease: the payer's own retry comes first, for it brings the credential along. */
  readonly adoptAfterMs: number;
  /** How often purchases of credits are looked for whose payment has become deep enough. */
  readonly confirmEveryMs: number;
  /**
   * A payment that its chain does not show counts as taken back so long after it settled: nodes behind one address do not all
   * have the newest blocks at once.
   */
  readonly seenByAllMs: number;
  /** How often it is asked what settling costs on each network: an offer goes that is not worth it any more. */
  readonly weighEveryMs: number;
  /** Vouchers of channels: what is done with them while nobody calls. */
  readonly claims: ClaimIntervals;
  /** How soon alerts tell of what happened. */
  readonly alertEveryMs: number;
  /** The wait before the next look doubles from the one to the other: what stays unknown is asked about less and less. */
  readonly lookAgainMs: { readonly least: number; readonly most: number };
}

export const usualIntervals: Intervals = {
  leaseMs: 30_000,
  waitMs: 25_000,
  reconcileEveryMs: 10_000,
  adoptAfterMs: 60_000,
  confirmEveryMs: 5_000,
  seenByAllMs: 30_000,
  weighEveryMs: 10_000,
  claims: { everyMs: 300_000, afterMs: 6 * 3_600_000, readEveryMs: 3_600_000, takenMs: 300_000 },
  alertEveryMs: 10_000,
  lookAgainMs: { least: 10_000, most: 600_000 },
};
