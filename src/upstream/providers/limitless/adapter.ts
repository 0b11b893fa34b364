/**
 * Limitless Exchange: prediction markets, read without a key. It takes two calls at a time, 300 ms apart.
 * Source: `@limitless-exchange/sdk` 1.1.0 and docs.limitless.exchange/api-reference.
 */
import type { Input } from '../../../catalogue/types.ts';
import type { Adapter, Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { isOpen, type Market, readMarket, tradable } from './market.ts';

export type { Market } from './market.ts';

export type LimitlessOptions = { readonly operation: 'market-list' };

type LimitlessBinding = Pick<Binding, 'upstream' | 'http'>;
type LimitlessContext = Pick<CallContext, 'signal'>;

/** The provider's own bound. */
export const LARGEST_PAGE = 25;

export interface MarketPage {
  /** One per outcome: a market with several is listed once for each. */
  markets: Market[];
  /** Of the whole list, groups counted once. */
  total: number;
}

export interface OrderBook {
  /** Shares of YES, best price first; prices from 0 to 1. */
  readonly bids: readonly { readonly price: number; readonly size: number }[];
  readonly asks: readonly { readonly price: number; readonly size: number }[];
}

export const limitless: Adapter<LimitlessOptions> = {
  name: 'limitless',
  secrets: [],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: ['market-list'] } },
  },
  async call(input, binding, context) {
    switch (binding.options.operation) {
      case 'market-list':
        return await marketList(input, binding, context);
    }
  },
};

async function marketList(input: Input, binding: LimitlessBinding, context: LimitlessContext) {
  const [page, limit] = [Number(input.page), Number(input.limit)];
  const categoryId = typeof input.category_id === 'number' ? input.category_id : undefined;
  const { markets, total } = await activeMarkets(binding, { page, limit, categoryId }, context);
  return { markets, page, limit, next_page: page * limit < total ? page + 1 : null };
}

/**
 * Markets that can be traded now, in the provider's own order unless another is named. `limit` is at most 25, `page`
 * counts from 1.
 */
export async function activeMarkets(
  { upstream, http }: LimitlessBinding,
  query: { page: number; limit: number; categoryId?: number | undefined; sortBy?: 'high_value' | 'newest' },
  { signal }: LimitlessContext,
): Promise<MarketPage> {
  const { page, limit, categoryId, sortBy } = query;
  const path = categoryId === undefined ? '/markets/active' : `/markets/active/${categoryId}`;
  const answer = (await http.request({ method: 'GET', path, query: { page, limit, sortBy }, signal })).json();
  const { data, totalMarketsCount } = (answer ?? {}) as Record<string, unknown>;
  if (!Array.isArray(data) || typeof totalMarketsCount !== 'number') {
    throw new UpstreamProblem('malformed', upstream, `${path} answered no page of markets`);
  }
  const markets = data.flatMap((market) => tradable(market)).map((market) => readMarket(market, categoryId));
  if (markets.some((market) => market === undefined)) {
    throw new UpstreamProblem('malformed', upstream, `${path} lists a market without an id, slug or title`);
  }
  return { markets: markets.filter((market) => market !== undefined), total: totalMarketsCount };
}

/** Throws UpstreamProblem: `not-found` for an unknown slug, `invalid-input` for a group and for a market that is over. */
export async function openMarket(
  { upstream, http }: LimitlessBinding,
  slug: string,
  { signal }: LimitlessContext,
): Promise<Market> {
  const path = `/markets/${encodeURIComponent(slug)}`;
  const response = await http.request({ method: 'GET', path, signal, accept: [400, 404] });
  if (response.status >= 400) {
    const forCaller = `No market has the id ${slug}: take one from the market list`;
    throw new UpstreamProblem('not-found', upstream, `${path} answered ${response.status}`, { forCaller });
  }
  const answer = response.json();
  const outcomes = tradable(answer);
  if (outcomes[0] !== answer) {
    const slugs = outcomes.slice(0, 10).map((outcome) => String((outcome as Record<string, unknown>)?.slug));
    const forCaller = `${slug} has several outcomes: name one of ${slugs.join(', ')}`;
    throw new UpstreamProblem('invalid-input', upstream, forCaller, { forCaller });
  }
  const market = readMarket(answer, undefined);
  if (market === undefined) throw new UpstreamProblem('malformed', upstream, `${path} answered no market`);
  if (!isOpen(answer)) {
    const forCaller = `The market ${slug} is over`;
    throw new UpstreamProblem('invalid-input', upstream, forCaller, { forCaller });
  }
  return market;
}

/** What is offered for YES; undefined for a market without an order book. */
export async function orderBook(
  { upstream, http }: LimitlessBinding,
  market: Market,
  { signal }: LimitlessContext,
): Promise<OrderBook | undefined> {
  if (market.trade_type !== 'clob') return undefined;
  const path = `/markets/${encodeURIComponent(market.slug)}/orderbook`;
  const answer = (await http.request({ method: 'GET', path, signal })).json();
  const { bids, asks } = (answer ?? {}) as Record<string, unknown>;
  if (!isOrders(bids) || !isOrders(asks)) {
    throw new UpstreamProblem('malformed', upstream, `${path} answered no order book`);
  }
  return { bids, asks };
}

const isOrders = (orders: unknown): orders is OrderBook['bids'] =>
  Array.isArray(orders) && orders.every((order) => typeof order?.price === 'number' && typeof order?.size === 'number');
