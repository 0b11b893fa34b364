/**
 * tokens.xyz, API version 1. Known assets only: any other asset is a 404, while a mint that nobody knows resolves to an
 * asset of its own, has no market and no risk score.
 * Read on 2026-11-22 in github solana-foundation/tokens at 661a6f0: apps/api/src/app/api/v1/assets (routes),
 * apps/api/src/lib/ohlcv-bounds.ts, packages/token-risk-helpers, apps/cloudrun-assets/src/handlers (rows of tickers and
 * snapshots).
 */
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasHeaderKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';
import { type AssetFixture, assetFixtures, tokenFixtures } from './market-fixtures.ts';
import {
  assetDetail,
  assetRow,
  candles,
  faultOf,
  insufficientData,
  marketOf,
  marketScoreInput,
  marketsPage,
  profileOf,
  rangeOf,
  riskSummary,
  snapshotRow,
  tickers,
  tokensOf,
  variantRow,
} from './tokens-xyz-views.ts';

export const tokensXyzDouble: DoubleKind = { adapter: 'tokens-xyz', open };

const SINGLE = /^solana-([1-9A-HJ-NP-Za-km-z]{32,44})$/;

type View = (found: { asset: AssetFixture; mint: string }, query: URLSearchParams) => unknown;

const page = (query: URLSearchParams, fallback: number) => ({
  offset: Number(query.get('offset') ?? 0),
  limit: Math.min(50, Number(query.get('limit') ?? fallback)),
});

/** `/assets/{assetId}/<name>` */
const assetViews: Readonly<Record<string, View>> = {
  profile: ({ asset }) => ({ assetId: asset.assetId, profile: { ok: true, data: profileOf(asset) } }),
  'risk-summary': ({ asset, mint }) => ({ assetId: asset.assetId, mint, risk: riskOf(mint) }),
  'risk-details': ({ asset, mint }) => ({
    assetId: asset.assetId,
    mint,
    risk: { ...riskOf(mint), marketScoreInput: marketScoreInput(tokenAt(mint)), tags: [] },
  }),
  variants({ asset }, query) {
    const [kind, tier] = [query.get('kind'), query.get('trustTier') ?? query.get('liquidityTier')];
    const rows = tokensOf(asset).filter((token) => (!kind || token.kind === kind) && (!tier || token.tier === tier));
    return { assetId: asset.assetId, sortBy: 'liquidity', variants: rows.map(variantRow) };
  },
  'variant-market': ({ asset, mint }) => ({
    assetId: asset.assetId,
    mint,
    market: marketOf(tokenAt(mint)),
    lastUpdatedAt: Date.now(),
  }),
  markets({ asset, mint }, query) {
    const shown = marketsPage(tokenAt(mint), page(query, 10));
    return { assetId: asset.assetId, mint, ...shown, protocolTokensByMarket: {}, lastUpdatedAt: Date.now() };
  },
  tickers({ asset }, query) {
    const { offset, limit } = page(query, 50);
    const all = tickers(asset);
    // Assets that CoinGecko does not follow have none, and no total.
    if (asset.category === 'equity') return { assetId: asset.assetId, tickers: { rows: [], offset: 0, limit: 0 } };
    const rows = all.slice(offset, offset + limit);
    return { assetId: asset.assetId, tickers: { rows, total: all.length, offset, limit, lastUpdatedAt: Date.now() } };
  },
  ohlcv({ asset, mint }, query) {
    const range = rangeOf(query);
    return { assetId: asset.assetId, mint, ...range, candles: candles(tokenAt(mint), range) };
  },
  'price-chart'({ asset, mint }, query) {
    const range = rangeOf(query);
    return { assetId: asset.assetId, ...range, candles: candles(tokenAt(mint), range) };
  },
  description: ({ asset, mint }) => ({
    assetId: asset.assetId,
    mint,
    description: { summary: `${asset.name} (${asset.symbol}) in the sandbox.`, generatedAt: Date.now() },
  }),
};

function open(): Double {
  return {
    unauthorized: (request) =>
      hasHeaderKey(request, 'x-api-key') ? undefined : failed(401, 'UnauthorizedError', 'Missing API key'),
    isBilled: ({ path }) => path.includes('/assets'),
    answer: (request) => route({ ...request, path: request.path.replace(/^\/v1(?=\/)/, '') }),
    errorBody: (status) => ({
      error: {
        _tag: status === 429 ? 'RateLimitedError' : 'InternalError',
        message: status === 429 ? 'Rate limited' : 'Internal error',
      },
    }),
    refuse: () => failed(404, 'NotFoundError', 'Asset not found'),
  };
}

const failed = (status: number, tag: string, message: string): DoubleAnswer =>
  jsonAnswer(status, { error: { _tag: tag, message } });

/** It is a Next.js application: what no route answers is a page. */
const NO_ROUTE: DoubleAnswer = {
  status: 404,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><title>404: This page could not be found.</title>',
};

function route(request: DoubleRequest): DoubleAnswer {
  const { path, query } = request;
  switch (path) {
    case '/assets/search':
      return search(query);
    case '/assets/curated':
      return curated(query);
    case '/assets/resolve':
      return resolve(query);
    case '/assets/risk-summary': {
      const token = tokenFixtures.find(({ mint }) => mint === query.get('mint'));
      return jsonAnswer(200, token ? riskSummary(token) : insufficientData);
    }
    case '/assets/variant-markets': {
      const mints = [...new Set((query.get('mints') ?? '').split(',').map((mint) => mint.trim()))].filter(Boolean);
      const variants = mints.slice(0, 50).map((mint) => {
        const token = tokenFixtures.find((fixture) => fixture.mint === mint);
        return {
          mint,
          assetId: token?.assetId ?? null,
          chain: token ? 'solana' : null,
          market: token ? marketOf(token) : null,
          executionQuality: null,
        };
      });
      return jsonAnswer(200, { variants });
    }
    case '/assets/market-snapshots': {
      const { mints } = jsonBody(request);
      if (mints !== undefined && !Array.isArray(mints)) return failed(400, 'BadRequestError', 'Invalid body');
      const rows = [...new Set((mints ?? []).map(String))].slice(0, 250);
      return jsonAnswer(200, rows.map(snapshotRow));
    }
    default:
      return assetRoute(path, query);
  }
}

function assetRoute(path: string, query: URLSearchParams): DoubleAnswer {
  const [, ref = '', name] = /^\/assets\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const found = find(ref);
  if (found === undefined) return failed(404, 'NotFoundError', `Asset not found: ${ref}`);
  const asked = query.get('mint');
  if (asked !== null && !tokensOf(found.asset).some(({ mint }) => mint === asked)) {
    return failed(400, 'BadRequestError', '`mint` must be a variant of this asset');
  }
  if (query.has('order') && query.get('order') !== 'volume_desc')
    return failed(400, 'BadRequestError', 'Unsupported order');
  const place = { asset: found.asset, mint: asked ?? found.mint };
  const fault = rangeFault(name, query);
  if (fault !== undefined) return failed(400, 'BadRequestError', fault);
  if (name === undefined)
    return jsonAnswer(
      200,
      assetDetail(place, query, found.resolvedBy === 'assetId' ? undefined : { ref, ...resolution(found) }),
    );
  const view = assetViews[name];
  return view ? jsonAnswer(200, view(place, query)) : NO_ROUTE;
}

/** What is wrong with the candles that are asked for: of their own route, of the chart, or of a section of the detail. */
function rangeFault(name: string | undefined, query: URLSearchParams): string | undefined {
  if (name === 'ohlcv' || name === 'price-chart') return faultOf(rangeOf(query));
  if (name === undefined && query.get('include')?.includes('ohlcv')) return faultOf(rangeOf(query, 'ohlcv'));
  return undefined;
}

interface Found {
  asset: AssetFixture;
  mint: string;
  resolvedBy: 'assetId' | 'alias' | 'mint' | 'singletonMint';
}

/** By id, alias, mint or `solana-<mint>`. */
function find(ref: string): Found | undefined {
  const single = SINGLE.exec(ref)?.[1];
  const token = tokenFixtures.find(({ mint }) => mint === (single ?? ref));
  const asset = assetFixtures.find(
    ({ assetId, aliases }) => assetId === (token?.assetId ?? ref) || aliases.includes(ref.toLowerCase()),
  );
  const primary = asset && tokensOf(asset)[0];
  if (asset === undefined || primary === undefined) return undefined;
  const resolvedBy = single ? 'singletonMint' : token ? 'mint' : asset.assetId === ref ? 'assetId' : 'alias';
  return { asset, mint: token?.mint ?? primary.mint, resolvedBy };
}

const resolution = ({ asset, mint, resolvedBy }: Found) => ({ resolvedBy, assetId: asset.assetId, mint });

function resolve(query: URLSearchParams): DoubleAnswer {
  const ref = query.get('mint') ?? query.get('ref');
  if (!ref) return failed(400, 'BadRequestError', 'mint or ref is required');
  const found = find(ref);
  if (found === undefined) return query.has('mint') ? singleton(ref) : failed(404, 'NotFoundError', 'Asset not found');
  const { assetId, name, symbol, category, aliases } = found.asset;
  const { market: _market, executionQuality: _quality, ...row } = variantRow(tokenAt(found.mint));
  const variant = query.has('mint') ? { ...row, chain: 'solana' } : row;
  return jsonAnswer(200, { ...resolution(found), asset: { assetId, name, symbol, category, aliases }, variant });
}

/** A mint that is a variant of nothing is an asset by itself, without a name where nobody has read it yet. */
const singleton = (mint: string): DoubleAnswer =>
  jsonAnswer(200, {
    assetId: `solana-${mint}`,
    resolvedBy: 'singleton',
    mint,
    asset: { assetId: `solana-${mint}`, category: 'crypto', aliases: [mint] },
    variant: { mint, chain: 'solana', kind: 'native', tags: [], liquidityTier: 'tier3', trustTier: 'tier3' },
  });

function search(query: URLSearchParams): DoubleAnswer {
  const asked = query.get('q')?.toLowerCase();
  if (!asked) return failed(400, 'BadRequestError', 'q is required');
  const category = query.get('category');
  const rows = assetFixtures.filter((asset) => {
    const names = [
      asset.assetId,
      asset.name,
      asset.symbol,
      ...tokensOf(asset).flatMap(({ name, symbol, mint }) => [name, symbol, mint]),
    ];
    return (!category || asset.category === category) && names.some((name) => name.toLowerCase().includes(asked));
  });
  const { limit } = page(query, 20);
  return jsonAnswer(200, {
    query: query.get('q'),
    category,
    primaryVariantStrategy: 'liquidity',
    results: rows.slice(0, limit).flatMap((row) => assetRow(row, query)),
  });
}

const curatedLists = ['majors', 'lsts', 'currencies', 'rwas', 'etfs', 'metals', 'stocks'];

/** A list that is none of theirs stands for all. */
function curated(query: URLSearchParams): DoubleAnswer {
  const listId = curatedLists.find((list) => list === query.get('list')) ?? 'all';
  const rows = assetFixtures.filter(({ lists }) => (listId === 'all' ? lists.length > 0 : lists.includes(listId)));
  const all = rows.flatMap((asset) => assetRow(asset, query));
  if (!query.has('limit') && !query.has('offset'))
    return jsonAnswer(200, { listId, primaryVariantStrategy: 'liquidity', assets: all });
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 250)];
  const hasMore = offset + limit < all.length;
  const pagination = { offset, limit, total: all.length, hasMore, nextOffset: hasMore ? offset + limit : null };
  return jsonAnswer(200, {
    listId,
    primaryVariantStrategy: 'liquidity',
    pagination,
    assets: all.slice(offset, offset + limit),
  });
}

function tokenAt(mint: string) {
  const token = tokenFixtures.find((fixture) => fixture.mint === mint);
  if (token === undefined) throw new Error(`no fixture for ${mint}`);
  return token;
}

function riskOf(mint: string) {
  const { score, grade, label, tone, isTrustedLaunch, hasInsufficientData, caps } = riskSummary(tokenAt(mint));
  const marketScore = { score, grade, label, tone, isTrustedLaunch, caps, hasInsufficientData };
  return { ok: true, marketScore, lastUpdatedAt: Date.now() };
}
