/** No call costs as much: a provider that says so counts in something else. The ledger's sums have 64 bits for trillionths. */
const MOST_DOLLARS = 1_000;

/** What a provider says that a call cost us, as decimal dollars; undefined where it says nothing that can be meant. */
export const reportedCost = (dollars: unknown): string | undefined =>
  typeof dollars === 'number' && dollars >= 0 && dollars < MOST_DOLLARS ? dollars.toFixed(12) : undefined;
