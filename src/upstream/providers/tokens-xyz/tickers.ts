import { asJsonObject, asJsonObjects, type JsonObject } from '../../../json.ts';

/**
 * `{assetId, tickers: {rows, total, offset, limit, lastUpdatedAt}}` as one page of exchanges. Rows are `CoinTickerRow` of
 * the provider's apps/api/src/app/api/coingecko/coins/[id]/tickers; an asset that nobody follows has none, and no total.
 */
export function tickersPage({ assetId, tickers }: JsonObject): JsonObject {
  const { rows, total = null, offset, limit, lastUpdatedAt = null } = asJsonObject(tickers);
  return { assetId, tickers: asJsonObjects(rows).map(ticker), total, offset, limit, lastUpdatedAt };
}

function ticker(row: JsonObject): JsonObject {
  const { base = null, target = null, market, priceUsd = null, volume24hUsd = null, ...rest } = row;
  return {
    exchange: asJsonObject(market).name ?? null,
    pair: base === null || target === null ? null : `${base}/${target}`,
    base,
    target,
    price: priceUsd,
    volume24hUSD: volume24hUsd,
    ...rest,
  };
}
