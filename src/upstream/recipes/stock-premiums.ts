/** Tokenized stocks beside the shares they stand for: what each costs on chain, and how far that is from the share. */
import type { CallContext } from '../adapter.ts';
import { UpstreamProblem } from '../problem.ts';
import { type JupiterBinding, type JupiterPrice, prices } from '../providers/jupiter/client.ts';
import { type TokenizedStock, tokenizedStocks, type XstocksBinding } from '../providers/xstocks/client.ts';

export interface StockPremium {
  ticker: string;
  xstock_symbol: string;
  solana_mint: string;
  /** Dollars for one token as wallets show it. */
  onchain_price: number;
  /** Dollars for one share; the last close while the exchange is shut. */
  underlying_price: number;
  /** Percent; above zero where the token costs more than the share. */
  premium_discount_pct: number;
  direction: 'premium' | 'discount' | 'flat';
  /** Null where the source does not say. */
  onchain_liquidity_usd: number | null;
  price_change_24h_pct: number | null;
  ui_multiplier: number;
  /** Milliseconds since the epoch, or null where the source does not say. */
  underlying_updated_at: number | null;
}

export interface StockPremiums {
  priced: StockPremium[];
  /** Tracked, but without a price on chain or of the share. */
  unpriced: { ticker: string; xstock_symbol: string; solana_mint: string }[];
}

const PRICES_AGE_MS = 60_000;
const REGISTRY_AGE_MS = 24 * 60 * 60_000;

/** At most a minute old, the registry at most a day. Throws UpstreamProblem. */
export async function stockPremiums(
  bindings: { registry: XstocksBinding; prices: JupiterBinding },
  context: CallContext,
): Promise<StockPremiums & { fetchedAt: number }> {
  const { registry } = bindings;
  const { cache, signal } = context;
  const list = async () => {
    const stocks = await tokenizedStocks(registry, context);
    if (stocks.length === 0) throw new UpstreamProblem('malformed', registry.upstream, 'lists no tokenized stock');
    return stocks;
  };
  const priced = async () => {
    const { value: stocks } = await cache.through(
      `tokenized-stocks ${registry.upstream}`,
      REGISTRY_AGE_MS,
      list,
      signal,
    );
    const byMint = await prices(
      bindings.prices,
      stocks.map(({ mint }) => mint),
      context,
    );
    return compare(stocks, byMint, context.now());
  };
  const found = await cache.through(`stock-premiums ${bindings.prices.upstream}`, PRICES_AGE_MS, priced, signal);
  return { ...found.value, fetchedAt: found.fetchedAt };
}

function compare(
  stocks: readonly TokenizedStock[],
  byMint: ReadonlyMap<string, JupiterPrice>,
  now: number,
): StockPremiums {
  const compared: StockPremiums = { priced: [], unpriced: [] };
  for (const { symbol, mint } of stocks) {
    const names = { ticker: tickerOf(symbol), xstock_symbol: symbol, solana_mint: mint };
    const price = byMint.get(mint);
    const share = price?.stockData?.price;
    if (price === undefined || share === undefined || !(share > 0)) {
      compared.unpriced.push(names);
      continue;
    }
    const percent = round(((price.usdPrice - share) / share) * 100);
    const updatedAt = Date.parse(price.stockData?.updatedAt ?? '');
    compared.priced.push({
      ...names,
      onchain_price: price.usdPrice,
      underlying_price: share,
      premium_discount_pct: percent,
      direction: percent > 0 ? 'premium' : percent < 0 ? 'discount' : 'flat',
      onchain_liquidity_usd: price.liquidity ?? null,
      price_change_24h_pct: price.priceChange24h ?? null,
      ui_multiplier: multiplierAt(now, price.scaledUiConfig),
      underlying_updated_at: Number.isNaN(updatedAt) ? null : updatedAt,
    });
  }
  return compared;
}

/** `TSLAx` stands for `TSLA`. */
const tickerOf = (symbol: string): string => symbol.replace(/x$/, '');

/** A new multiplier is announced ahead and holds from its date on. */
function multiplierAt(now: number, config: JupiterPrice['scaledUiConfig']): number {
  const { multiplier = 1, newMultiplier, newMultiplierEffectiveAt } = config ?? {};
  const isInForce = Date.parse(newMultiplierEffectiveAt ?? '') <= now;
  return newMultiplier !== undefined && isInForce ? newMultiplier : multiplier;
}

/** Percent to four decimals. */
export const round = (percent: number): number => Math.round(percent * 10_000) / 10_000;
