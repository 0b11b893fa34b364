/**
 * Limitless Exchange: prediction markets, read without a key. It takes two calls at a time, 300 ms apart.
 * Source: `@limitless-exchange/sdk` 1.1.0 and docs.limitless.exchange/api-reference.
 */
import { asJsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { isOpen, type Market, readMarket, tradable } from './market.ts';

export type LimitlessBinding = Pick<Binding, 'upstream' | 'http'>;
export type LimitlessContext = Pick<CallContext, 'signal'>;

/** The provider's own bound. */
export const LARGEST_PAGE = 25;

interface MarketPage {
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
  const { data, totalMarketsCount } = asJsonObject(answer);
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
    const publicMessage = `No market has the id ${slug}: take one from the market list`;
    throw new UpstreamProblem('not-found', upstream, `${path} answered ${response.status}`, { publicMessage });
  }
  const answer = response.json();
  const outcomes = tradable(answer);
  if (outcomes[0] !== answer) {
    const slugs = outcomes.slice(0, 10).map((outcome) => String(asJsonObject(outcome).slug));
    const publicMessage = `${slug} has several outcomes: name one of ${slugs.join(', ')}`;
    throw new UpstreamProblem('invalid-input', upstream, 'the market is a group of markets', { publicMessage });
  }
  const market = readMarket(answer, undefined);
  if (market === undefined) throw new UpstreamProblem('malformed', upstream, `${path} answered no market`);
  if (!isOpen(answer)) {
    const publicMessage = `The market ${slug} is over`;
    throw new UpstreamProblem('invalid-input', upstream, publicMessage, { publicMessage });
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
  const { bids, asks } = asJsonObject(answer);
  if (!isOrders(bids) || !isOrders(asks)) {
    throw new UpstreamProblem('malformed', upstream, `${path} answered no order book`);
  }
  return { bids, asks };
}

const isOrders = (orders: unknown): orders is OrderBook['bids'] =>
  Array.isArray(orders) && orders.every((order) => typeof order?.price === 'number' && typeof order?.size === 'number');
