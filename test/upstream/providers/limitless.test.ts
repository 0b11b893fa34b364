import { HttpClient, MarketFetcher } from '@limitless-exchange/sdk';
import t from 'tap';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { limitless } from '../../../src/upstream/providers/limitless/adapter.ts';
import { activeMarkets, openMarket, orderBook } from '../../../src/upstream/providers/limitless/client.ts';
import { isOpen, type Market, readMarket, tradable } from '../../../src/upstream/providers/limitless/market.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const list = { adapter: limitless as Adapter, upstream: {}, options: { operation: 'market-list' } };

adapterContract(t, 'a list of markets', {
  ...list,
  input: { limit: 10, page: 1 },
  refusal: 'failed',
  result: {
    type: 'object',
    required: ['markets', 'page', 'limit', 'next_page'],
    properties: {
      markets: { type: 'array', minItems: 10, items: { required: ['id', 'slug', 'title', 'yes_price', 'no_price'] } },
      page: { const: 1 },
      limit: { const: 10 },
      next_page: { const: 2 },
    },
  },
});

type Listed = { markets: Market[]; next_page: number | null };

t.test('turns pages up to the last, without missing or repeating a market', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const slugs: string[] = [];
  let next: number | null = 1;
  for (let page = 1; next !== null; page += 1) {
    t.equal(next, page);
    const answer = (await limitless.call({ limit: 25, page }, binding as never, context)) as Listed;
    slugs.push(...answer.markets.map(({ slug }) => slug));
    next = answer.next_page;
  }
  t.equal(new Set(slugs).size, slugs.length);
  t.equal(slugs.length, 40, 'a group is one row');
});

t.test('an exactly full last page has no next one', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const answer = (await limitless.call({ limit: 20, page: 2 }, binding as never, context)) as Listed;
  t.equal(answer.next_page, null);
});

t.test('lists one category, and says which it is', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const { markets, total } = await activeMarkets(binding, { page: 1, limit: 25, categoryId: 2 }, context);
  t.ok(total < 40 && markets.length >= total);
  t.same([...new Set(markets.map(({ category }) => category))], ['Economy']);
});

t.test('lists each outcome of a group under the title of both', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const { markets } = await activeMarkets(binding, { page: 1, limit: 10 }, context);
  const outcomes = markets.filter(({ title }) => title.startsWith('Which part of the bridge opens first?: '));
  t.same(
    outcomes.map(({ title }) => title.split(': ')[1]),
    ['North span', 'South span', 'Both spans'],
  );
  for (const { collateral_token, yes_price } of outcomes) t.ok(collateral_token === 'USDC' && yes_price !== null);
});

const market = (fields: object) => readMarket({ id: 1, slug: 'a', title: 'A?', ...fields });
const prices = (given: unknown) => {
  const read = market({ prices: given });
  return [read?.yes_price, read?.no_price];
};

t.test('a pool, which quotes no price, is listed without one', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const { markets } = await activeMarkets(binding, { page: 1, limit: 10 }, context);
  const pools = markets.filter(({ trade_type }) => trade_type === 'amm');
  t.ok(pools.length > 0);
  for (const { yes_price, no_price } of pools) t.same([yes_price, no_price], [null, null]);
});

t.test('reads prices from 0 to 1 and in percent alike', async (t) => {
  t.same(prices([0.62, 0.38]), [0.62, 0.38]);
  t.same(prices([62, 38]), [0.62, 0.38]);
  t.same(prices([1, 0]), [1, 0], 'certain, not one percent');
  t.same(prices([99, 1]), [0.99, 0.01]);
  t.same(prices([0.62]), [0.62, 0.38], 'NO is what YES leaves');
  t.same(prices(undefined), [null, null]);
  t.same(prices([]), [null, null]);
  t.same(prices(['x', 2]), [null, null]);
  t.same(prices([-1, 2]), [null, null]);
  t.same(prices([null, null]), [null, null], 'nobody has said that it costs nothing');
});

t.test('reads a market by the documented names', async (t) => {
  const read = market({
    proxyTitle: 'Shown title',
    categories: ['Crypto', 'Daily'],
    expirationTimestamp: 1_780_272_000_000,
    volume: '18240500000',
    volumeFormatted: '18,240.5',
    liquidityFormatted: '1200.000000',
    collateralToken: { symbol: 'USDC' },
    tradeType: 'amm',
  });
  t.match(read, {
    title: 'Shown title',
    category: 'Crypto',
    deadline: '2026-06-01T00:00:00.000Z',
    volume: 18_240.5,
    volume_raw: '18240500000',
    liquidity: 1200,
    collateral_token: 'USDC',
    trade_type: 'amm',
  });
  t.equal(readMarket({ id: 1, slug: 'a' }), undefined);
  t.equal(market({ expirationTimestamp: 1e17 })?.deadline, null, 'no calendar has that day');
  t.match(market({}), { category: null, deadline: null, volume: null, volume_raw: null, liquidity: null });
});

t.test('knows a market that is over', async (t) => {
  t.ok(isOpen({ status: 'FUNDED', expired: false, winningOutcomeIndex: null }));
  t.notOk(isOpen({ status: 'RESOLVED' }));
  t.notOk(isOpen({ expired: true }));
  t.notOk(isOpen({ winningOutcomeIndex: 0 }));
  t.same(tradable({ id: 1, markets: [] }).length, 1, 'an empty group is itself');
  const group = { id: 1, markets: [{ id: 2 }, { id: 3, status: 'RESOLVED' }, { id: 4, expired: true }] };
  t.match(tradable(group), [{ id: 2 }], 'what is over is no longer to be had');
  t.equal(tradable(group).length, 1);
});

t.test('an unknown market is not found; a group names its outcomes', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const unknown = await problemOf(openMarket(binding, 'no-such-market', context));
  t.match(unknown, { failure: 'not-found', publicMessage: /no-such-market/ });
  const { markets } = await activeMarkets(binding, { page: 1, limit: 10 }, context);
  const [outcome] = markets.filter(({ title }) => title.includes(': North span'));
  const group = await binding.http.request({ method: 'GET', path: '/markets/40004', signal: context.signal });
  const { slug } = group.json() as { slug: string };
  const problem = await problemOf(openMarket(binding, slug, context));
  t.match(problem, { failure: 'invalid-input', publicMessage: outcome?.slug });
});

t.test('reads the order book of a market that has one', async (t) => {
  const { binding, context } = await openSetting(t, list);
  const { markets } = await activeMarkets(binding, { page: 1, limit: 10 }, context);
  const clob = markets.find(({ trade_type }) => trade_type === 'clob') as Market;
  const pool = markets.find(({ trade_type }) => trade_type === 'amm') as Market;
  const book = await orderBook(binding, clob, context);
  t.ok((book?.bids[0]?.price ?? 1) < (book?.asks[0]?.price ?? 0));
  for (const { size } of [...(book?.bids ?? []), ...(book?.asks ?? [])]) t.ok(size >= 10 && size <= 5000, 'in shares');
  t.equal(await orderBook(binding, pool, context), undefined);
});

t.test("the venue's own client reads the double", async (t) => {
  const { doubles } = await openSetting(t, list);
  const client = new HttpClient({ baseURL: doubles.baseUrlOf('the-upstream') });
  const fetcher = new MarketFetcher(client);
  const { data, totalMarketsCount } = await fetcher.getActiveMarkets({ limit: 8, page: 2, sortBy: 'newest' });
  t.equal(data.length, 8);
  t.equal(totalMarketsCount, 40);
  const slug = data[0]?.slug ?? '';
  t.equal((await fetcher.getMarket(slug)).title, data[0]?.title);
  const book = await fetcher.getOrderBook(slug);
  t.ok(book.bids.length > 0);
});
