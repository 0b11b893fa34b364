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

const listed = async (ask: Awaited<ReturnType<typeof openServed>>['ask'], input: object = {}) =>
  (await ask<{ markets: Market[] }>(`${venue}/market-list`, input)).markets;

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
  const markets = new Map((await listed(ask)).map((market) => [market.slug, market]));
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
  const category = new Set((await listed(ask, { category_id: 3 })).map(({ slug }) => slug));
  const { opportunities } = await ask<Feed>(`${venue}/alpha-feed`, { category_id: 3 });
  t.ok(opportunities.every(({ market_id }) => category.has(market_id)));
});

t.test('asks no model when there is no market to estimate', async (t) => {
  const { ask, doubles } = await openServed(t);
  t.same(await ask(`${venue}/alpha-feed`, { category_id: 99 }), { opportunities: [] });
  t.equal(doubles.calls().search, 0);
});

t.test('charges nothing for a feed when the venue or the model fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  for (const upstream of ['venue-a', 'search']) {
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask(`${venue}/alpha-feed`, {})), { failure: 'failed', upstream });
  }
});
