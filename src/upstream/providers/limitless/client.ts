/**
 * Limitless Exchange: prediction markets, read without a key. It takes two calls at a time, 300 ms apart.
 * Source: `@limitless-exchange/sdk` 1.1.0, docs.limitless.exchange/api-reference, and for categories the venue's own web
 * client, github limitless-labs-group/Limitless-Exchange.
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
  /** The page's markets, each as what can be bought of it: one, or its outcomes where it has several. */
  listings: Market[][];
  /** All of these. */
  markets: Market[];
  /** Markets of the whole list. */
  total: number;
}

export interface Category {
  id: number;
  name: string;
}

const CATEGORIES_AGE_MS = 60 * 60_000;

/** The venue's categories, at most an hour old: it tells of a market only their names. */
export async function categoriesOf(
  { upstream, http }: LimitlessBinding,
  { cache, signal }: Pick<CallContext, 'cache' | 'signal'>,
): Promise<Category[]> {
  const read = async (): Promise<Category[]> => {
    const answer: unknown = (await http.request({ method: 'GET', path: '/categories', signal })).json();
    if (!Array.isArray(answer)) throw new UpstreamProblem('malformed', upstream, '/categories answered no list');
    return answer.flatMap((category: unknown) => {
      const { id, name } = asJsonObject(category);
      return typeof id === 'number' && typeof name === 'string' ? [{ id, name }] : [];
    });
  };
  return (await cache.through(`prediction-categories ${upstream}`, CATEGORIES_AGE_MS, read, signal)).value;
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
  const listings = data.map((listing) =>
    tradable(listing).map((outcome) => {
      const market = readMarket(outcome);
      if (market) return market;
      throw new UpstreamProblem('malformed', upstream, `${path} lists a market without an id, slug or title`);
    }),
  );
  return { listings, markets: listings.flat(), total: totalMarketsCount };
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
  const market = readMarket(answer);
  if (market === undefined) throw new UpstreamProblem('malformed', upstream, `${path} answered no market`);
  if (!isOpen(answer)) {
    const publicMessage = `The market ${slug} is over`;
    throw new UpstreamProblem('invalid-input', upstream, publicMessage, { publicMessage });
  }
  return market;
}

/** Order books count shares in millionths, as their collateral, USDC, is counted. */
const SHARE = 1_000_000;

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
  const inShares = (orders: OrderBook['bids']) => orders.map(({ price, size }) => ({ price, size: size / SHARE }));
  return { bids: inShares(bids), asks: inShares(asks) };
}

const isOrders = (orders: unknown): orders is OrderBook['bids'] =>
  Array.isArray(orders) && orders.every((order) => typeof order?.price === 'number' && typeof order?.size === 'number');
