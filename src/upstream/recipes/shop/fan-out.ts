/** One search at several marketplaces at the same time. */
import type { CallContext } from '../../adapter.ts';
import { type UpstreamFailure, UpstreamProblem } from '../../problem.ts';
import { type SerpBinding, serpSearch } from '../../providers/serpapi/client.ts';
import { type MarketplaceName, marketplaces, type ShopQuery } from './marketplaces.ts';
import { hasCondition, interleave, type Product, sortBy, withinPrices, withOtherPlaces } from './product.ts';

type SearchedSource = {
  marketplace: MarketplaceName;
  /** Offers that it gave, before any filter. */
  count: number;
  took_ms: number;
  /** Why it gave none. */
  error?: UpstreamFailure;
};

interface Searched {
  /** Filtered and in order, not yet cut. */
  products: Product[];
  sources: SearchedSource[];
}

/** What is not searched, condition -> marketplaces: Amazon sells new things. */
export const leftOut: Readonly<Record<string, readonly MarketplaceName[]>> = {
  used: ['amazon'],
  refurbished: ['amazon'],
};

/** Amazon is left out for used and refurbished things. Throws UpstreamProblem `invalid-input` where nothing is left. */
export function searchable(names: readonly MarketplaceName[], condition: unknown, upstream: string): MarketplaceName[] {
  const left = names.filter((name) => !leftOut[String(condition)]?.includes(name));
  if (left.length > 0) return left;
  const publicMessage = `amazon sells nothing ${condition}: name another marketplace`;
  throw new UpstreamProblem('invalid-input', upstream, publicMessage, { publicMessage });
}

/** A marketplace that fails or is late is named in `sources`; only when all fail does this throw, the first one's problem. */
export async function searchAll(
  shops: SerpBinding,
  names: readonly MarketplaceName[],
  query: ShopQuery,
  context: CallContext,
  waitMs: number,
): Promise<Searched> {
  const outcomes = await Promise.all(names.map((name) => searchOne(shops, name, query, context, waitMs)));
  const [first] = outcomes;
  if (first?.problem !== undefined && outcomes.every(({ problem }) => problem !== undefined)) throw first.problem;
  const wanted = outcomes.flatMap(({ found }) => found);
  const { condition, priceMin, priceMax, sort } = query;
  const matching = condition === undefined ? wanted : wanted.filter((product) => hasCondition(product, condition));
  const priced = withOtherPlaces(withinPrices(matching, priceMin, priceMax));
  return {
    products: sort === 'relevance' || sort === 'newest' ? inTurn(priced, names, sort) : sortBy(priced, sort),
    sources: outcomes.map(({ source }) => source),
  };
}

/** The newest first is the marketplaces' own order: Google does not offer it and comes last. */
function inTurn(
  products: readonly Product[],
  names: readonly MarketplaceName[],
  sort: 'relevance' | 'newest',
): Product[] {
  const lists = names.map((name) => products.filter(({ marketplace }) => marketplace === name));
  const isDated = (index: number) => sort === 'relevance' || names[index] !== 'google_shopping';
  return [
    ...interleave(lists.filter((_, index) => isDated(index))),
    ...lists.filter((_, index) => !isDated(index)).flat(),
  ];
}

interface Outcome {
  found: Product[];
  source: SearchedSource;
  problem: UpstreamProblem | undefined;
}

async function searchOne(
  shops: SerpBinding,
  name: MarketplaceName,
  query: ShopQuery,
  context: CallContext,
  waitMs: number,
): Promise<Outcome> {
  const { engine, ...marketplace } = marketplaces[name];
  const started = performance.now();
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  try {
    const answer = await serpSearch(shops, engine, marketplace.query(query), { signal });
    const found = marketplace.products(answer, query.country);
    return { found, source: { marketplace: name, count: found.length, took_ms: since(started) }, problem: undefined };
  } catch (error) {
    if (!(error instanceof UpstreamProblem)) throw error;
    const source = { marketplace: name, count: 0, took_ms: since(started), error: error.failure };
    return { found: [], source, problem: error };
  }
}

const since = (started: number): number => Math.round(performance.now() - started);
