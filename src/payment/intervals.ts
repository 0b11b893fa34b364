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
  /** How often it is asked what settling costs on each network: an offer goes that is not worth it any more. */
  readonly weighEveryMs: number;
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
  weighEveryMs: 10_000,
  alertEveryMs: 10_000,
  lookAgainMs: { least: 10_000, most: 600_000 },
};
