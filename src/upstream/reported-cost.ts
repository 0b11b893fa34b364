import { asJsonObject } from '../json.ts';

/** No call costs as much: a provider that says so counts in something else. The ledger's sums have 64 bits for trillionths. */
const MOST_DOLLARS = 1_000;

/** What a provider says that a call cost us, as decimal dollars; undefined where it says nothing that can be meant. */
export const reportedCost = (dollars: unknown): string | undefined =>
  typeof dollars === 'number' && dollars >= 0 && dollars < MOST_DOLLARS ? dollars.toFixed(12) : undefined;

/** xAI counts in these what a call cost. Source: docs.x.ai/developers/cost-tracking. */
const TICKS_PER_DOLLAR = 1e10;

/** The same of a provider's `usage`: OpenRouter has `cost` in it, and xAI, whatever it answers, `cost_in_usd_ticks`. */
export function costIn(usage: unknown): string | undefined {
  const { cost, cost_in_usd_ticks: ticks } = asJsonObject(usage);
  return reportedCost(typeof ticks === 'number' ? ticks / TICKS_PER_DOLLAR : cost);
}

/** What a call cost so far and what one more exchange of it did, together. What is no amount adds nothing. */
export const withCost = (known: string | undefined, dollars: string): string =>
  known === undefined ? dollars : (reportedCost(Number(known) + Number(dollars)) ?? known);
