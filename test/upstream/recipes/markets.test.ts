import t from 'tap';
import type { Market } from '../../../src/upstream/providers/limitless/market.ts';
import { problemOf } from '../providers/contract.ts';
import { openServed } from '../served-routes.ts';

const venue = '/ai/prediction-market/venue-a';

interface Intel {
  market: { slug: string; yes_price: number; no_price: number };
  recommendation: string;
  key_signals: { source: string; weight: number }[];
}

interface Feed {
  opportunities: { market_id: string; recommendation: 'YES' | 'NO'; confidence: number; edge_bps: number }[];
}

type Row = Market & { category_id: number | null; outcomes?: Market[] };

interface Page {
  markets: Row[];
  next_page: number | null;
  categories: { id: number; name: string }[];
}

const listed = async (ask: Awaited<ReturnType<typeof openServed>>['ask'], input: object = {}) =>
  (await ask<{ markets: Row[] }>(`${venue}/market-list`, input)).markets;

t.test('judges a market on its own figures and on sites that were found', async (t) => {
  const { ask } = await openServed(t);
  const [first, second] = await listed(ask, { limit: 4 });
  for (const { slug, yes_price, no_price } of [first, second] as Market[]) {
    const intel = await ask<Intel>(`${venue}/market-intel`, { market_id: slug });
    t.match(intel.market, { slug, yes_price, no_price });
    const weights = intel.key_signals.map(({ weight }) => weight);
    t.same(
      weights,
      [...weights].sort((one, other) => other - one),
      'the weightiest first',
    );
    t.ok(weights.length >= 1 && weights.length <= 5);
    for (const { source } of intel.key_signals) {
      t.match(source, /^(market price|market volume|order book|[a-z]+[.]example)$/);
    }
  }
});

t.test('a page never holds more rows than limit, and all pages hold every market', async (t) => {
  const { ask } = await openServed(t);
  const rows: Row[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const answer: Page = await ask<Page>(`${venue}/market-list`, { limit: 5, page });
    t.ok(answer.markets.length <= 5, `page ${page}`);
    rows.push(...answer.markets);
    page = answer.next_page;
  }
  t.equal(rows.length, 40);
  const group = rows.find(({ outcomes }) => outcomes !== undefined);
  t.equal(group?.outcomes?.length, 3);
  t.equal(group?.yes_price, Math.max(...(group?.outcomes ?? []).map(({ yes_price }) => Number(yes_price))));
  t.match(await ask(`${venue}/market-intel`, { market_id: group?.slug }), { market: { slug: group?.slug } });
});

t.test('every market has the id of its category, and a caller learns all of them', async (t) => {
  const { ask } = await openServed(t);
  const { markets, categories } = await ask<Page>(`${venue}/market-list`);
  t.same(
    categories.map(({ id }) => id),
    [1, 2, 3],
  );
  for (const { category, category_id } of markets)
    t.match(
      categories,
      [{}, {}, {}].map((_, at) => (at === Number(category_id) - 1 ? { name: category } : {})),
    );
  for (const { id, name } of categories) {
    const own = await ask<Page>(`${venue}/market-list`, { category_id: id });
    t.ok(
      own.markets.length > 0 && own.markets.every((market) => market.category_id === id && market.category === name),
    );
  }
});

t.test('charges nothing for a judgement when any step fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  const [market] = await listed(ask, { limit: 1 });
  for (const upstream of ['venue-a', 'search', 'chat']) {
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask(`${venue}/market-intel`, { market_id: market?.slug })), {
      failure: 'failed',
      upstream,
    });
  }
});

t.test('opportunities are ranked by an edge that the listed prices bear out', async (t) => {
  const { ask } = await openServed(t);
  const all = (await listed(ask)).flatMap((market) => market.outcomes ?? [market]);
  const markets = new Map(all.map((market) => [market.slug, market]));
  const { opportunities } = await ask<Feed>(`${venue}/alpha-feed`, { limit: 20 });
  const edges = opportunities.map(({ edge_bps }) => edge_bps);
  t.ok(edges.length > 0 && edges.every((edge) => edge >= 200));
  t.same(
    edges,
    [...edges].sort((one, other) => other - one),
  );
  for (const { market_id, recommendation, edge_bps } of opportunities) {
    const { yes_price, no_price } = markets.get(market_id) ?? {};
    const price = (recommendation === 'YES' ? yes_price : no_price) ?? Number.NaN;
    t.ok(edge_bps <= (1 - price) * 10_000, `${market_id} cannot gain more than what its price leaves`);
  }
});

t.test('keeps to limit, confidence and category; an empty feed is an answer', async (t) => {
  const { ask } = await openServed(t);
  t.ok((await ask<Feed>(`${venue}/alpha-feed`, { limit: 1 })).opportunities.length <= 1);
  t.same(await ask(`${venue}/alpha-feed`, { min_confidence: 1 }), { opportunities: [] });
  const category = new Set(
    (await listed(ask, { category_id: 3 })).flatMap(({ slug, outcomes = [] }) => [
      slug,
      ...outcomes.map((one) => one.slug),
    ]),
  );
  const { opportunities } = await ask<Feed>(`${venue}/alpha-feed`, { category_id: 3 });
  t.ok(opportunities.length > 0 && opportunities.every(({ market_id }) => category.has(market_id)));
});

t.test('asks no model when there is no market to estimate', async (t) => {
  const { ask, doubles } = await openServed(t);
  t.same(await ask(`${venue}/alpha-feed`, { category_id: 99 }), { opportunities: [] });
  t.equal(doubles.calls().search, 0);
});

t.test('rules of a market that open tags and end none are read at once, and keep nobody waiting', async (t) => {
  const market = {
    ...{ id: 1, slug: 'a-market', title: 'A market', description: '<p'.repeat(1_000_000) },
    ...{ prices: [0.4, 0.6], tradeType: 'amm', expirationTimestamp: Date.now() + 86_400_000 },
  };
  const { ask } = await openServed(t, {
    standIn: {
      upstream: 'venue-a',
      answer: (path) => ({
        status: 200,
        json: path.includes('/markets/active') ? { data: [market], totalMarketsCount: 1 } : market,
      }),
    },
  });
  t.match(await ask(`${venue}/market-intel`, { market_id: market.slug }), { market: { slug: market.slug } });
  t.match(await ask(`${venue}/alpha-feed`), { opportunities: Array });
});

t.test('charges nothing for a feed when the venue or the model fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  for (const upstream of ['venue-a', 'search']) {
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask(`${venue}/alpha-feed`, {})), { failure: 'failed', upstream });
  }
});
