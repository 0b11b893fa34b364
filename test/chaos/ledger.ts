/** What became of payments on their chains, as the chains themselves show it. */

export interface Transfer {
  /** As the store names the payment that was settled by it. */
  readonly payment: string;
  /** As the chain names it. */
  readonly transaction: string;
  /** Atomic units. */
  readonly moved: bigint;
}

/** All transfers to the addresses that are paid, as they were when it was read. */
export interface Ledger {
  readonly transfers: readonly Transfer[];
  find(payment: string): Transfer | undefined;
  /** What the chain had once, and has not any more. */
  readonly takenBack: readonly Transfer[];
  /** CAIP-2 id of each network -> what its address holds more than at the start, in atomic units. */
  readonly gains: ReadonlyMap<string, bigint>;
}

export function ledgerOf(
  transfers: readonly Transfer[],
  gains: Ledger['gains'],
  takenBack: readonly Transfer[] = [],
): Ledger {
  const byPayment = new Map(transfers.map((transfer) => [transfer.payment, transfer]));
  return { transfers, gains, find: (payment) => byPayment.get(payment), takenBack };
}
