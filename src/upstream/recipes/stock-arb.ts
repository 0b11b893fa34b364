import { defineRecipe } from '../adapter.ts';
import { jupiterData } from '../providers/jupiter/adapter.ts';
import { xstocksRegistry } from '../providers/xstocks/adapter.ts';
import { round, type StockPremium, type StockPremiums, stockPremiums } from './stock-premiums.ts';

interface StockArbOptions {
  /** Least premium or discount, in percent, that is worth acting on. */
  readonly actionablePercent?: number;
  /** Least liquidity on chain, in dollars, that is worth acting on. */
  readonly actionableLiquidityUsd?: number;
  /** How old the share's price may be, in seconds, to act on it: it stands still while the exchange is shut. */
  readonly freshSeconds?: number;
}

type Sort = 'abs' | 'premium' | 'discount';

interface StockArbRequest {
  readonly sort?: Sort;
  readonly min_liquidity_usd?: number;
}

interface StockArbResult {
  opportunities: (Omit<StockPremium, 'underlying_updated_at'> & { actionable: boolean })[];
  unpriced: StockPremiums['unpriced'];
  /** Of everything that is tracked, whatever the request filters. */
  stats: { tracked: number; average_premium_discount_pct: number | null; actionable_count: number };
  fetched_at: string;
}

const orders: Readonly<Record<Sort, (one: StockPremium, other: StockPremium) => number>> = {
  abs: (one, other) => Math.abs(other.premium_discount_pct) - Math.abs(one.premium_discount_pct),
  premium: (one, other) => other.premium_discount_pct - one.premium_discount_pct,
  discount: (one, other) => one.premium_discount_pct - other.premium_discount_pct,
};

/** Premiums and discounts of tokenized stocks, refreshed every minute. No language model: every number is a source's. */
export const stockArb = defineRecipe({
  name: 'stock-arb',
  options: {
    type: 'object',
    properties: {
      actionablePercent: {
        type: 'number',
        minimum: 0,
        default: 1,
        description: 'Least premium or discount worth acting on, in per cent',
      },
      actionableLiquidityUsd: {
        type: 'number',
        minimum: 0,
        default: 10_000,
        description: 'Least liquidity worth acting on, in dollars',
      },
      freshSeconds: {
        type: 'integer',
        minimum: 1,
        default: 3600,
        description: 'Oldest share price worth acting on, in seconds',
      },
    },
  },
  reads: { sort: 'string?', min_liquidity_usd: 'number?' },
  roles: { registry: [xstocksRegistry], prices: [jupiterData] },
  async call(
    { sort = 'abs', min_liquidity_usd: least }: StockArbRequest,
    { registry, prices },
    context,
    options: StockArbOptions,
  ): Promise<StockArbResult> {
    const { actionablePercent = 1, actionableLiquidityUsd = 10_000, freshSeconds = 3600 } = options;
    const { priced, unpriced, fetchedAt } = await stockPremiums({ registry, prices }, context);

    const oldest = fetchedAt - freshSeconds * 1000;
    const isActionable = (row: StockPremium): boolean =>
      Math.abs(row.premium_discount_pct) >= actionablePercent &&
      (row.onchain_liquidity_usd ?? -1) >= actionableLiquidityUsd &&
      (row.underlying_updated_at ?? 0) >= oldest;
    const shown = priced
      .filter((row) => least === undefined || (row.onchain_liquidity_usd ?? -1) >= least)
      .sort(orders[sort]);
    const sum = priced.reduce((total, row) => total + row.premium_discount_pct, 0);
    return {
      opportunities: shown.map((row) => {
        const { underlying_updated_at: _, ...shown } = row;
        return { ...shown, actionable: isActionable(row) };
      }),
      unpriced,
      stats: {
        tracked: priced.length + unpriced.length,
        average_premium_discount_pct: priced.length === 0 ? null : round(sum / priced.length),
        actionable_count: priced.filter(isActionable).length,
      },
      fetched_at: new Date(fetchedAt).toISOString(),
    };
  },
});
