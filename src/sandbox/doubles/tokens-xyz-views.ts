/** How tokens.xyz shows the fixtures. */
import { seeded } from '../../examples/seed.ts';
import { type AssetFixture, type TokenFixture, tokenFixtures } from './market-fixtures.ts';

/** The asset's tokens, most liquid first: the first is the primary variant. */
export const tokensOf = (asset: AssetFixture): TokenFixture[] =>
  tokenFixtures
    .filter(({ assetId }) => assetId === asset.assetId)
    .sort((one, other) => other.liquidity - one.liquidity);

export function marketOf(token: TokenFixture) {
  return {
    price: token.price,
    liquidity: token.liquidity,
    volume24hUSD: token.volume,
    marketCap: token.marketCap,
    priceChange24hPercent: token.changes[3],
    priceChange1hPercent: token.changes[1],
    decimals: token.decimals,
    logoURI: null,
    lastFetchedAt: Date.now(),
  };
}

/** One page of the markets in which a token is traded. */
export function marketsPage(token: TokenFixture, { offset, limit }: { offset: number; limit: number }) {
  const { mint, symbol, decimals, liquidity, volume, price } = token;
  const markets = ['Raydium', 'Orca', 'Meteora'].map((name, index) => ({
    address: `${mint.slice(0, 40)}${index}`,
    name: `${symbol}-USDC`,
    source: name,
    base: { address: mint, symbol, decimals },
    quote: { address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', symbol: 'USDC', decimals: 6 },
    liquidity: liquidity / (index + 2),
    volume24h: volume / (index + 2),
    trade24h: 12_000 / (index + 1),
    price,
  }));
  return { markets: markets.slice(offset, offset + limit), total: markets.length, offset, limit };
}

/** The provider names the chain of a variant only where a mint is resolved and in variant-markets. */
export function variantRow(token: TokenFixture) {
  const { assetId, symbol, mint, kind, tier, tags, name } = token;
  return {
    variantId: `${assetId}:${symbol}`,
    mint,
    kind,
    liquidityTier: tier,
    trustTier: tier,
    tags,
    symbol,
    name,
    advisory: null,
    market: marketOf(token),
    executionQuality: null,
  };
}

function statsOf(asset: AssetFixture) {
  const tokens = tokensOf(asset);
  const [primary] = tokens;
  const sum = (field: 'liquidity' | 'volume'): number => tokens.reduce((total, token) => total + token[field], 0);
  return {
    price: primary?.stock?.price ?? primary?.price ?? null,
    liquidity: sum('liquidity'),
    volume24hUSD: sum('volume'),
    volume30dUSD: sum('volume') * 30,
    marketCap: primary?.marketCap ?? null,
    priceChange24hPercent: primary?.changes[3] ?? null,
    priceChange1hPercent: primary?.changes[1] ?? null,
  };
}

/** Rows of search and of curated lists: one an asset, or one a token with `groupBy=mint`. */
export function assetRow(asset: AssetFixture, query: URLSearchParams): unknown[] {
  const tokens = tokensOf(asset);
  const { assetId, name, symbol, category } = asset;
  const row = (primary: TokenFixture | undefined) => ({
    assetId,
    name,
    symbol,
    category,
    imageUrl: null,
    stats: statsOf(asset),
    advisories: [],
    primaryVariant: primary ? variantRow(primary) : null,
    ...(query.get('variants') === 'all' && { variants: tokens.map(variantRow) }),
  });
  return query.get('groupBy') === 'mint' ? tokens.map(row) : [row(tokens[0])];
}

const groups = {
  native: 'spot',
  stablecoin: 'spot',
  lst: 'yield',
  tokenized_equity: 'tokenizedEquity',
  etf: 'etf',
} as const;

function variantGroups(tokens: readonly TokenFixture[]) {
  const grouped: Record<string, unknown[]> = {};
  for (const token of tokens) {
    const group = groups[token.kind];
    grouped[group] = [...(grouped[group] ?? []), variantRow(token)];
  }
  return grouped;
}

export function assetDetail(place: { asset: AssetFixture; mint: string }, query: URLSearchParams, resolution: unknown) {
  const { asset, mint } = place;
  const { assetId, name, symbol, category, aliases } = asset;
  const tokens = tokensOf(asset);
  const chosen = tokens.find((token) => token.mint === mint) ?? tokens[0];
  const includes = (query.get('include') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return {
    asset: {
      assetId,
      name,
      symbol,
      category,
      aliases,
      imageUrl: null,
      stats: statsOf(asset),
      advisories: [],
      primaryVariantStrategy: 'liquidity',
      primaryVariant: chosen ? variantRow(chosen) : null,
      variantGroups: variantGroups(tokens),
    },
    ...(resolution !== undefined && { resolution }),
    ...(includes.length > 0 && {
      includes: Object.fromEntries(includes.map((key) => [key, included(key, asset, chosen, query)])),
    }),
  };
}

function included(key: string, asset: AssetFixture, token: TokenFixture | undefined, query: URLSearchParams): unknown {
  if (token === undefined) return { ok: false, reason: 'not_available', message: 'No variant' };
  switch (key) {
    case 'profile':
      return { ok: true, data: profileOf(asset) };
    case 'risk':
      return {
        ok: true,
        data: {
          tokenData: null,
          tradingData: null,
          marketScoreInput: marketScoreInput(token),
          marketScore: riskSummary(token),
        },
      };
    case 'ohlcv':
      return { ok: true, data: candles(token, rangeOf(query, 'ohlcv')) };
    case 'markets':
      return {
        ok: true,
        data: marketsPage(token, {
          offset: Number(query.get('marketsOffset') ?? 0),
          limit: Math.min(50, Number(query.get('marketsLimit') ?? 10)),
        }),
      };
    default:
      return { ok: false, reason: 'unknown_include', message: `Unknown include ${key}` };
  }
}

export function profileOf(asset: AssetFixture) {
  const [token] = tokensOf(asset);
  const { price = 0, marketCap = 0, volume = 0, changes } = token ?? {};
  return {
    marketCap,
    fdv: marketCap,
    price,
    volume24h: volume,
    priceChange24h: changes?.[3] ?? null,
    circulatingSupply: price === 0 ? null : marketCap / price,
    totalSupply: price === 0 ? null : marketCap / price,
    allTimeHigh: price * 1.8,
    allTimeHighDate: '2025-01-19T00:00:00.000Z',
    description: `${asset.name} in the sandbox.`,
    links: {},
  };
}

const grades = {
  tier1: { score: 91, grade: 'A', label: 'Low risk', tone: 'safe' },
  tier2: { score: 74, grade: 'B', label: 'Moderate risk', tone: 'info' },
  tier3: { score: 48, grade: 'C', label: 'High risk', tone: 'risk' },
} as const;

export const riskSummary = (token: TokenFixture) => ({
  ...grades[token.tier],
  isTrustedLaunch: token.tier !== 'tier3',
  caps: [],
  hasInsufficientData: false,
  insufficientDataReason: null,
});

/** What version 1 answers for a mint whose market nobody has read. */
export const insufficientData = {
  score: 0,
  grade: 'C',
  label: 'Insufficient Data',
  tone: 'risk',
  isTrustedLaunch: false,
  caps: [],
  hasInsufficientData: true,
  insufficientDataReason: 'Market snapshot not available in cache',
} as const;

export const marketScoreInput = (token: TokenFixture) => ({
  liquidityUsd: token.liquidity,
  marketCapUsd: token.marketCap,
  holderCount: token.holders,
  top10HoldersPercent: null,
  volume24hUsd: token.volume,
  volume7dUsd: token.volume * 7,
  tokenMintTime: null,
  tokenAddress: token.mint,
});

export function snapshotRow(mint: string) {
  const token = tokenFixtures.find((fixture) => fixture.mint === mint);
  if (token === undefined) return { address: mint, token: null, hasMarket: false };
  const { symbol, name, decimals, liquidity, volume: volume24hUSD, price, marketCap, changes } = token;
  return {
    address: mint,
    token: {
      address: mint,
      symbol,
      name,
      decimals,
      liquidity,
      volume24hUSD,
      price,
      marketCap,
      priceChange24hPercent: changes[3],
    },
    hasMarket: true,
  };
}

/** Rows are `CoinTickerRow`, which the provider makes from CoinGecko's. */
export function tickers(asset: AssetFixture) {
  const [token] = tokensOf(asset);
  return ['Binance', 'Coinbase Exchange', 'Kraken'].map((name, index) => ({
    base: asset.symbol,
    target: index === 0 ? 'USDT' : 'USD',
    market: { name, identifier: name.toLowerCase().replaceAll(' ', '_'), hasTradingIncentive: false },
    priceUsd: token?.price ?? null,
    volume24hUsd: (token?.volume ?? 0) / (index + 3),
    spreadPercent: 0.02 * (index + 1),
    tradeUrl: null,
    trustScore: index === 2 ? null : 'green',
    isAnomaly: false,
    isStale: false,
    timestamp: new Date().toISOString(),
  }));
}

const intervalSeconds: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1H': 3600,
  '4H': 14_400,
  '1D': 86_400,
  '1W': 604_800,
};
const WEEK_SECONDS = 604_800;
const MOST_CANDLES = 10_000;
/** No market that is followed is older: the start of 2010. */
const EARLIEST = 1_262_304_000;
const CLOCK_SKEW_SECONDS = 300;

/** Seconds since 1970. */
export interface CandleRange {
  interval: string;
  from: number;
  to: number;
}

/** The last week unless asked otherwise; `ohlcv` in front of the parameters' names in the detail. */
export function rangeOf(query: URLSearchParams, prefix = ''): CandleRange {
  const get = (name: string) => query.get(prefix === '' ? name : prefix + name[0]?.toUpperCase() + name.slice(1));
  const now = Math.floor(Date.now() / 1000);
  const to = Math.min(Number(get('to') ?? now), now + CLOCK_SKEW_SECONDS);
  return { interval: get('interval') ?? '1H', from: Number(get('from') ?? now - WEEK_SECONDS), to };
}

/** `validateOhlcvRange` of the provider: why it does not answer such a range. */
export function faultOf({ interval, from, to }: CandleRange): string | undefined {
  const step = intervalSeconds[interval];
  if (step === undefined) return 'Invalid interval';
  if (from > to) return '`from` must be <= `to`';
  if (from < EARLIEST) return '`from` is too far in the past';
  if (Math.floor((to - from) / step) + 1 > MOST_CANDLES)
    return `Requested range is too large: max ${MOST_CANDLES} candles per request`;
  return undefined;
}

/** The same time always has the same candle. */
export function candles(token: TokenFixture, { interval, from, to }: CandleRange) {
  const step = intervalSeconds[interval] ?? 3600;
  const shown = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const random = seeded(`${token.mint} ${time}`);
    const [open, close] = [
      token.price * (0.98 + random.number() * 0.04),
      token.price * (0.98 + random.number() * 0.04),
    ];
    const [high, low] = [Math.max(open, close) * 1.005, Math.min(open, close) * 0.995];
    shown.push({ time, open, high, low, close, volume: (token.volume / 86_400) * step * (0.5 + random.number()) });
  }
  return shown;
}
