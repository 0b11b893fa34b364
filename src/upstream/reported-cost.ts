/** No call costs as much: a provider that says so counts in something else. The ledger's sums have 64 bits for trillionths. */
const MOST_DOLLARS = 1_000;

/** What a provider says that a call cost us, as decimal dollars; undefined where it says nothing that can be meant. */
export const reportedCost = (dollars: unknown): string | undefined =>
  typeof dollars === 'number' && dollars >= 0 && dollars < MOST_DOLLARS ? dollars.toFixed(12) : undefined;

/** What a call cost so far and what one more exchange of it did, together. What is no amount adds nothing. */
export const withCost = (known: string | undefined, dollars: string): string =>
  known === undefined ? dollars : (reportedCost(Number(known) + Number(dollars)) ?? known);
