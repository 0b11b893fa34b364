/** Section 4.7: the tokens API, seventeen endpoints of 0.01, mirrored on two networks as `success` and `data`. */
import { choice, type Field, number, type Row, required, text } from '../row.ts';
import {
  number as aNumber,
  boolean,
  both,
  filled,
  list,
  matching,
  named,
  object,
  oneOf,
  orNull,
  record,
  type Shape,
  somewhere,
  wrapped,
} from '../shape.ts';

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const OTHER_MINT = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';

const assetId = required(text('usd'));
const mint = text(MINT);
const interval = choice(['1m', '5m', '15m', '1H', '4H', '1D', '1W'], '1H');
const pageLimit = number({ min: 1, max: 50, default: 10 });
const offset = number({ example: 5, default: 0 });
const time = number({ example: 1_760_000_000 });

/** So many addresses that differ. */
const addresses = (count: number): string[] => {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const { length } = alphabet;
  return Array.from({ length: count }, (_, index) => {
    return `${MINT.slice(0, 42)}${alphabet[Math.floor(index / length)]}${alphabet[index % length]}`;
  });
};

const mints = (most: number): Field => ({
  required: true,
  accepts: [[MINT, OTHER_MINT], `${MINT},${OTHER_MINT}`, addresses(most), addresses(most).join(',')],
  refuses: [addresses(most + 1), addresses(most + 1).join(','), [], 7, [7], 'not a mint'],
});

const figures = { price: named, liquidity: named, volume: named, marketCap: named, priceChange: named };
const stats = record(figures);
const variant = record({
  mint: filled,
  chain: filled,
  kind: filled,
  trustTier: oneOf('tier1', 'tier2', 'experimental'),
  tags: list(filled),
});
const candles = list(record({ open: aNumber, high: aNumber, low: aNumber, close: aNumber, volume: aNumber }), {
  some: true,
});
const score = {
  score: aNumber,
  grade: matching(/^[A-F]$/),
  label: filled,
  tone: oneOf('info', 'success', 'warning', 'danger'),
  isTrustedLaunch: boolean,
  hasInsufficientData: boolean,
};

const row = (
  path: string,
  fields: Record<string, Field>,
  result: Shape,
  rest: Pick<Row, 'rules' | 'more'> = {},
): Row => ({
  path: `/tokens-api/${path}`,
  price: '0.01',
  furtherNetworks: 0,
  fields,
  ...rest,
  result,
  mirrors: [
    { network: 'chain-c', prefix: 'chain-c-main', result: wrapped(result) },
    { network: 'chain-e', prefix: 'chain-e', result: wrapped(result) },
  ],
});

const snapshots = (length: number): Shape => list(record({ address: filled, token: named }), { length });
const assetDetail = record({ imageUrl: named, primaryVariant: named, stats });
const resolved = (variant: Shape): Shape =>
  record({
    assetId: filled,
    asset: record({ name: filled, symbol: filled, category: filled, aliases: list(filled) }),
    variant,
  });

export const tokensApiRows: readonly Row[] = [
  row(
    'asset-detail',
    {
      assetId,
      include: {
        required: false,
        accepts: ['profile', 'risk,ohlcv', 'profile,risk,ohlcv,markets'],
        refuses: ['holders', 7],
      },
      mint,
      ohlcvInterval: interval,
      ohlcvFrom: time,
      ohlcvTo: time,
      marketsOffset: offset,
      marketsLimit: pageLimit,
    },
    assetDetail,
    {
      more: [
        {
          request: { include: 'profile,risk,ohlcv,markets' },
          result: both(assetDetail, somewhere('profile', 'risk', 'ohlcv', 'markets')),
        },
      ],
    },
  ),
  row('asset-profile', { assetId }, both(object, somewhere('marketCap', 'volume24h'))),
  row('asset-risk-details', { assetId, mint }, somewhere('score', 'grade', 'label', 'marketScoreInput')),
  row('asset-risk-summary', { assetId, mint }, somewhere('score', 'grade', 'label', 'isTrustedLaunch')),
  row(
    'asset-variants',
    {
      assetId,
      kind: choice([
        ...['native', 'wrapped', 'bridged', 'lst', 'stablecoin'],
        ...['etf', 'yield', 'leveraged', 'basket', 'tokenized_equity'],
      ]),
      trustTier: choice(['tier1', 'tier2', 'experimental']),
    },
    record({ variants: list(record({ mint: filled, chain: filled, market: named }), { some: true }) }),
  ),
  row('market-snapshots', { mints: mints(250) }, snapshots(2), {
    more: [{ request: { mints: `${MINT},${OTHER_MINT},${MINT}` }, result: snapshots(2) }],
  }),
  row(
    'curated',
    { list: text('majors', 'all'), groupBy: choice(['asset', 'mint'], 'asset') },
    record({ assets: list(record({ assetId: filled, stats: named }), { some: true }) }),
  ),
  row(
    'asset-markets',
    { assetId, mint, offset, limit: pageLimit },
    record({ markets: list(both(object, somewhere('liquidity')), { some: true }) }),
  ),
  row(
    'asset-tickers',
    { assetId, offset, limit: pageLimit, order: choice(['volume_desc']) },
    record({ tickers: list(object, { some: true }) }),
  ),
  row(
    'asset-ohlcv',
    { assetId, mint, interval, from: time, to: time },
    record({ assetId: filled, mint: filled, interval: filled, candles }),
  ),
  row(
    'asset-price-chart',
    { assetId },
    record({ assetId: filled, interval: filled, from: aNumber, to: aNumber, candles }),
  ),
  row('asset-description', { assetId, mint }, both(record({ description: named }), somewhere('summary'))),
  row('resolve', { mint: required(mint) }, resolved(variant), {
    rules: {
      accepts: [
        { mint: undefined, ref: 'usd' },
        { mint: undefined, ref: `chain-a-${MINT}` },
      ],
      refuses: [{ mint: undefined, ref: 7 }, { ref: 'usd' }],
    },
    more: [{ request: { mint: undefined, ref: 'usd' }, result: resolved(named) }],
  }),
  row('risk-summary', { mint: required(mint) }, record(score)),
  row(
    'search',
    { q: required(text('usdc')), limit: number({ min: 1, max: 50, default: 20 }), category: text('stablecoin') },
    record({
      query: filled,
      results: list(
        record({
          assetId: filled,
          name: filled,
          symbol: filled,
          category: named,
          imageUrl: named,
          stats: orNull(stats),
          primaryVariant: named,
        }),
        { some: true },
      ),
    }),
  ),
  row('asset-variant-market', { assetId, mint }, somewhere('price', 'liquidity', 'marketCap')),
  row(
    'variant-markets',
    { mints: mints(50) },
    record({ variants: list(record({ mint: filled, assetId: filled, chain: filled, market: named }), { some: true }) }),
  ),
];
