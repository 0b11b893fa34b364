import { asJsonObject } from '../json.ts';
import type { CallContext } from './adapter.ts';

/** No call costs as much: a provider that says so counts in something else. The ledger's sums have 64 bits for trillionths. */
const MOST_DOLLARS = 1_000;

/** What a provider says that a call cost us, as decimal dollars; undefined where it says nothing that can be meant. */
export const reportedCost = (dollars: unknown): string | undefined =>
  typeof dollars === 'number' && dollars >= 0 && dollars < MOST_DOLLARS ? dollars.toFixed(12) : undefined;

/** xAI counts in these what a call cost. Source: docs.x.ai/developers/cost-tracking. */
const TICKS_PER_DOLLAR = 1e10;

/**
 * The same of a provider's `usage`: OpenRouter has `cost` in it, and xAI, whatever it answers, `cost_in_usd_ticks`. Of a
 * call with a key of ours for the provider behind it, OpenRouter's cost is its fee alone: what that provider bills us is
 * beside it (openrouter.ai/docs/use-cases/usage-accounting).
 */
export function costOfUsage(usage: unknown): string | undefined {
  const { cost, is_byok: isOwnKey, cost_details: details, cost_in_usd_ticks: ticks } = asJsonObject(usage);
  if (typeof ticks === 'number') return reportedCost(ticks / TICKS_PER_DOLLAR);
  const { upstream_inference_cost: billed } = asJsonObject(details);
  const isBilledApart = isOwnKey === true && typeof billed === 'number';
  return reportedCost(typeof cost === 'number' && isBilledApart ? cost + billed : cost);
}

/** Tells what an exchange cost us, where the provider's `usage` says it. */
export function reportUsage(usage: unknown, context: Pick<CallContext, 'reportCost'>): void {
  const dollars = costOfUsage(usage);
  if (dollars !== undefined) context.reportCost?.(dollars);
}

/** What a call cost so far and what one more exchange of it did, together. What is no amount adds nothing. */
export const withCost = (known: string | undefined, dollars: string): string =>
  known === undefined ? dollars : (reportedCost(Number(known) + Number(dollars)) ?? known);
