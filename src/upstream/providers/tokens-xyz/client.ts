/**
 * tokens.xyz, API version 1: canonical assets, their variants and markets.
 * Source: github solana-foundation/tokens, apps/docs/content/docs/v1 and apps/api/src/app/api/v1.
 */
import type { Reading, RequestReads } from '../../../catalogue/contracts.ts';
import type { Input } from '../../../catalogue/types.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type CandleFields, candleRange } from './candle-range.ts';
import { toNeutral, toProvider } from './names.ts';
import { tickersPage } from './tickers.ts';

interface Operation {
  /** `{assetId}` stands for the request's field. */
  readonly path: string;
  /** Request fields that become query parameters of the same name, and how they are read. */
  readonly query?: Readonly<Record<string, Reading>>;
  /** Of these a call needs one. */
  readonly oneOf?: readonly string[];
  /** What is sent where the request leaves a field out: the provider's own defaults have changed before. */
  readonly defaults?: Readonly<Record<string, string | number>>;
  /** Most addresses in `mints`. */
  readonly mostMints?: number;
  /** `mints` goes into a JSON body instead of the query. */
  readonly posts?: boolean;
  /** Where a section lies in the answer, and what of it the answer has at its top as well: our name -> the section's. */
  readonly lifted?: { readonly from: readonly string[]; readonly fields: Readonly<Record<string, string>> };
  /** The answer is a list. */
  readonly list?: boolean;
  /** The candles that the answer holds, where it holds any. */
  readonly candles?: (input: Input) => CandleFields | undefined;
  /** The answer in another form. */
  readonly view?: (answer: JsonObject) => JsonObject;
}

const asset = '/assets/{assetId}';
const mint = { mint: 'string?' } as const;
const pages = { offset: 'number?', limit: 'number?' } as const;
const page = { offset: 0, limit: 10 };
const detailCandles = { interval: 'ohlcvInterval', from: 'ohlcvFrom', to: 'ohlcvTo' };
const ownCandles = { interval: 'interval', from: 'from', to: 'to' };

const same = (...fields: string[]): Record<string, string> => Object.fromEntries(fields.map((field) => [field, field]));

export const operations = {
  'asset-detail': {
    path: asset,
    query: { include: 'string?', ...mint, marketsOffset: 'number?', marketsLimit: 'number?' },
    candles: ({ include }) => (String(include).includes('ohlcv') ? detailCandles : undefined),
    lifted: { from: ['asset'], fields: same('imageUrl', 'primaryVariant', 'stats') },
  },
  'asset-profile': { path: `${asset}/profile` },
  'asset-risk-details': { path: `${asset}/risk-details`, query: mint },
  'asset-risk-summary': {
    path: `${asset}/risk-summary`,
    query: mint,
    lifted: {
      from: ['risk', 'marketScore'],
      fields: same('score', 'grade', 'label', 'tone', 'isTrustedLaunch', 'hasInsufficientData'),
    },
  },
  'asset-variants': { path: `${asset}/variants`, query: { kind: 'string?', trustTier: 'string?' } },
  'asset-markets': { path: `${asset}/markets`, query: { ...mint, ...pages }, defaults: page },
  'asset-tickers': {
    path: `${asset}/tickers`,
    query: { ...pages, order: 'string?' },
    defaults: page,
    view: tickersPage,
  },
  'asset-ohlcv': { path: `${asset}/ohlcv`, query: mint, candles: () => ownCandles },
  'asset-price-chart': { path: `${asset}/price-chart` },
  'asset-description': { path: `${asset}/description`, query: mint },
  'asset-variant-market': {
    path: `${asset}/variant-market`,
    query: mint,
    lifted: {
      from: ['market'],
      fields: {
        ...same('price', 'liquidity', 'marketCap', 'priceChange24hPercent', 'priceChange1hPercent'),
        volume: 'volume24hUSD',
        priceChange: 'priceChange24hPercent',
      },
    },
  },
  'market-snapshots': { path: '/assets/market-snapshots', mostMints: 250, posts: true, list: true },
  'variant-markets': { path: '/assets/variant-markets', mostMints: 50 },
  curated: {
    path: '/assets/curated',
    query: { list: 'string?', groupBy: 'string?' },
    defaults: { list: 'all', groupBy: 'asset' },
  },
  resolve: { path: '/assets/resolve', query: { ...mint, ref: 'string?' }, oneOf: ['mint', 'ref'], view: resolvedAsset },
  'risk-summary': { path: '/assets/risk-summary', query: { mint: 'string' } },
  search: {
    path: '/assets/search',
    query: { q: 'string', limit: 'number?', category: 'string?' },
    defaults: { limit: 20 },
  },
} as const satisfies Record<string, Operation>;

export type TokensOperation = keyof typeof operations;

/** What an operation reads of a request. */
export function readsOf(name: TokensOperation): RequestReads {
  const { path, query, mostMints, candles, oneOf }: Operation = operations[name];
  const range = candles?.({ include: 'ohlcv' });
  return {
    fields: {
      ...(path.includes('{assetId}') && { assetId: 'string' }),
      ...(mostMints !== undefined && { mints: 'string[]|string' }),
      ...(range && { [range.interval]: 'string?', [range.from]: 'number?', [range.to]: 'number?' }),
      ...query,
    },
    ...(oneOf && { oneOf }),
  };
}

/** What this service calls the chain where `settings` do not say. */
export const DEFAULT_CHAIN = 'chain-a';

/** One operation, named like the route that sells it, in this service's words. Throws UpstreamProblem. */
export async function askTokens(
  name: TokensOperation,
  input: Input,
  binding: Pick<Binding, 'upstream' | 'settings' | 'http'>,
  context: Pick<CallContext, 'signal' | 'now'>,
): Promise<unknown> {
  const { upstream } = binding;
  const chain = String(binding.settings.chain ?? DEFAULT_CHAIN);
  const operation: Operation = operations[name];
  const request = toProvider(input, chain);
  const mints = operation.mostMints === undefined ? undefined : mintsOf(input, operation.mostMints, upstream);
  const candles = operation.candles?.(request);
  const query = {
    ...Object.fromEntries(
      Object.keys(operation.query ?? {}).map((field) => [
        field,
        asParameter(request[field] ?? operation.defaults?.[field]),
      ]),
    ),
    ...(candles && candleRange(request, candles, context.now())),
  };
  const response = await binding.http.request({
    method: operation.posts ? 'POST' : 'GET',
    path: operation.path.replace('{assetId}', encodeURIComponent(String(request.assetId))),
    query: mints && !operation.posts ? { ...query, mints: mints.join(',') } : query,
    ...(operation.posts && { json: { mints }, idempotent: true }),
    signal: context.signal,
    accept: [400, 404],
  });
  const providerMessage = response.body.toString('utf8', 0, 300);
  if (response.status >= 400) throw refusal(name, upstream, response.status, providerMessage);
  const answer = response.json();
  const isRight = operation.list ? Array.isArray(answer) : isJsonObject(answer);
  if (!isRight)
    throw new UpstreamProblem('malformed', upstream, `${name} answered something else than documented`, {
      providerMessage,
    });
  const lifted = operation.lifted ? lift(asJsonObject(answer), operation.lifted) : answer;
  return toNeutral(operation.view ? operation.view(asJsonObject(lifted)) : lifted, chain);
}

/** The provider's errors that are the caller's: apps/docs/content/docs/v1/rate-limits-and-errors.mdx has their form. */
const CALLERS: Readonly<Record<string, readonly ['invalid-input' | 'not-found', publicMessage: string]>> = {
  BadRequestError: ['invalid-input', 'The provider does not take these values'],
  NotFoundError: ['not-found', 'No such asset or mint'],
};

/** What has none of their tags is a route that is gone, or said by what stands before the provider. */
function refusal(name: string, upstream: string, status: number, providerMessage: string): UpstreamProblem {
  const tag = /"_tag"\s*:\s*"(\w{1,100})"/.exec(providerMessage)?.[1] ?? '';
  const [failure, publicMessage] = CALLERS[tag] ?? ['failed' as const];
  return new UpstreamProblem(failure, upstream, `${name} answered ${status}`, {
    status,
    ...(publicMessage !== undefined && { publicMessage }),
    providerMessage,
  });
}

/** An asset of its own, which a token of no known asset is, comes without a name. */
function resolvedAsset(answer: JsonObject): JsonObject {
  return { ...answer, asset: { name: null, symbol: null, category: null, aliases: [], ...asJsonObject(answer.asset) } };
}

/** A section's main fields beside it, where callers look for them; null where it lacks them. */
function lift(answer: JsonObject, { from, fields }: NonNullable<Operation['lifted']>): JsonObject {
  const section = from.reduce((part, step) => asJsonObject(part[step]), answer);
  const lifted = Object.entries(fields).map(([name, field]) => [name, section[field] ?? null]);
  return { ...Object.fromEntries(lifted), ...answer };
}

const asParameter = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

/** A list, or one string with commas; without repetitions. */
function mintsOf(input: Input, most: number, upstream: string): string[] {
  const given = Array.isArray(input.mints) ? input.mints.map(String) : String(input.mints).split(',');
  const mints = [...new Set(given.map((mint) => mint.trim()).filter((mint) => mint !== ''))];
  if (mints.length > 0 && mints.length <= most) return mints;
  const publicMessage = `mints holds ${mints.length} addresses: between 1 and ${most} are taken`;
  throw new UpstreamProblem('invalid-input', upstream, publicMessage, { publicMessage });
}
