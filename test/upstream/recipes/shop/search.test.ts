import { mock } from 'node:test';
import t from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import type { PriceSummary } from '../../../../src/upstream/price-summary.ts';
import { serpapi } from '../../../../src/upstream/providers/serpapi/adapter.ts';
import { searchAll } from '../../../../src/upstream/recipes/shop/fan-out.ts';
import { type MarketplaceName, marketplaceNames } from '../../../../src/upstream/recipes/shop/marketplaces.ts';
import type { Product } from '../../../../src/upstream/recipes/shop/product.ts';
import { openSetting, problemOf } from '../../providers/contract.ts';
import { failingAt, openServed } from '../../served-routes.ts';

interface Answer {
  results: Product[];
  price_summary: PriceSummary;
  intent: { keywords: string; condition: string | null; marketplaces: MarketplaceName[] };
  sources: { marketplace: string; count: number; took_ms: number; error?: string }[];
}

t.test('spreads results across marketplaces and sums their prices up', async (t) => {
  const { ask } = await openServed(t);
  const { results, price_summary, sources, intent } = await ask<Answer>('/shop/search', {
    query: 'brass lantern',
    limit: 6,
  });
  t.same(
    results.map(({ marketplace }) => marketplace),
    [...marketplaceNames, ...marketplaceNames],
  );
  t.same(
    sources.map(({ marketplace }) => marketplace),
    [...marketplaceNames],
  );
  const prices = results.flatMap(({ price }) => price ?? []).sort((one, other) => one - other);
  t.equal(price_summary.min, prices[0]);
  t.equal(price_summary.max, prices.at(-1));
  t.match(intent, { keywords: 'brass lantern', condition: null });
});

t.test('an explicit order holds over all marketplaces', async (t) => {
  const { ask } = await openServed(t);
  const { results } = await ask<Answer>('/shop/search', { query: 'brass lantern', sort: 'price_asc', limit: 50 });
  const prices = results.map(({ price }) => price ?? Number.POSITIVE_INFINITY);
  t.ok(prices.length > 20);
  t.same(
    prices,
    [...prices].sort((one, other) => one - other),
  );
});

t.test('keeps to the bounds of the request', async (t) => {
  const { ask } = await openServed(t);
  const { results } = await ask<Answer>('/shop/search', {
    query: 'brass lantern',
    price_min: 50,
    price_max: 120,
    limit: 50,
  });
  t.ok(results.length > 3);
  t.ok(results.every(({ price }) => price !== null && price >= 50 && price <= 120));
});

t.test('skips amazon for used and refurbished things, and refuses it alone', async (t) => {
  const { ask, doubles } = await openServed(t);
  const { results, sources } = await ask<Answer>('/shop/search', { query: 'brass lantern', condition: 'used' });
  t.same(
    sources.map(({ marketplace }) => marketplace),
    ['google_shopping', 'ebay'],
  );
  t.ok(results.length > 0 && results.every(({ condition }) => condition === 'used'));
  const before = doubles.calls();
  const alone = { query: 'brass lantern', condition: 'refurbished', marketplaces: ['amazon'] };
  await t.rejects(ask('/shop/search', alone), /marketplaces/, 'refused by the schema, before anybody pays');
  t.same(doubles.calls(), before, 'nothing was asked');
});

const searched: [string, object, MarketplaceName[], string][] = [
  ['brass lantern', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['brass lantern on eBay', {}, ['ebay'], '0.0067'],
  ['brass lantern from Amazon or ebay', {}, ['amazon', 'ebay'], '0.0134'],
  ['brass lantern on eBay and Amazon', {}, ['amazon', 'ebay'], '0.0134'],
  ['brass lantern, ebay or amazon', {}, ['amazon', 'ebay'], '0.0134'],
  ['brass lantern on google shopping, amazon and ebay', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['brass lantern at Google Shopping or Amazon', {}, ['google_shopping', 'amazon'], '0.0134'],
  ['brass lantern, not on ebay or amazon', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['used brass lantern', {}, ['google_shopping', 'ebay'], '0.0134'],
  ['pre-owned lantern on ebay or at amazon', {}, ['ebay'], '0.0067'],
  ['brass lantern, not used', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['brass lantern, not on ebay', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['amazon parrot poster', {}, ['google_shopping', 'amazon', 'ebay'], '0.02'],
  ['brass lantern on ebay', { marketplaces: ['amazon'] }, ['amazon'], '0.0067'],
  ['most used lantern', { marketplaces: ['amazon'] }, ['amazon'], '0.0067'],
  ['most used lantern', { condition: 'new' }, ['google_shopping', 'amazon', 'ebay'], '0.02'],
];
for (const [query, fields, marketplaces, price] of searched) {
  t.test(`searches exactly what it quotes: ${query} ${JSON.stringify(fields)}`, async (t) => {
    const { ask, quote, doubles } = await openServed(t);
    t.equal(quote('/shop/search', { query, ...fields }), price);
    const { sources, intent } = await ask<Answer>('/shop/search', { query, ...fields });
    t.same(
      sources.map(({ marketplace }) => marketplace),
      marketplaces,
    );
    t.same(intent.marketplaces, marketplaces);
    t.equal(doubles.calls().shopping, marketplaces.length);
  });
}

t.test('a marketplace that fails is told, the others are sold', async (t) => {
  const { ask } = await openServed(t, { standIn: failingAt('shopping', /engine=amazon/) });
  const { results, sources } = await ask<Answer>('/shop/search', { query: 'brass lantern', limit: 50 });
  t.match(sources, [{ count: 12 }, { marketplace: 'amazon', count: 0, error: 'failed' }, { count: 12 }]);
  t.same([...new Set(results.map(({ marketplace }) => marketplace))], ['google_shopping', 'ebay']);
  for (const source of sources) t.ok(source.took_ms >= 0);
  t.notOk('error' in (sources[0] ?? {}));
});

t.test('charges nothing when every marketplace fails', async (t) => {
  const { ask } = await openServed(t, { standIn: failingAt('shopping', /search/) });
  t.match(await problemOf(ask('/shop/search', { query: 'brass lantern' })), { failure: 'failed' });
});

t.test('searches for the words of the query when the model fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  doubles.fault('chat', '500', 2);
  const { results, intent } = await ask<Answer>('/shop/search', { query: 'used brass lantern', limit: 3 });
  t.equal(results.length, 3);
  t.match(intent, { keywords: 'used brass lantern', condition: 'used' });
});

t.test('nothing found is an answer', async (t) => {
  const { ask } = await openServed(t);
  const answer = await ask<Answer>('/shop/search', { query: 'nothing' });
  t.match(answer, { results: [], price_summary: { min: null, max: null, median: null } });
});

t.test('a marketplace that is late does not hold the others up', async (t) => {
  const { binding, context, doubles } = await openSetting(t, {
    adapter: serpapi as Adapter,
    upstream: { keys: { key: 'SERPAPI_API_KEY' } },
    options: {},
  });
  const query = {
    keywords: 'lantern',
    priceMin: undefined,
    priceMax: undefined,
    condition: undefined,
    sort: 'relevance',
    country: 'us',
  } as const;
  doubles.fault('the-upstream', 'timeout', 1);
  // The time is over once the others have answered.
  const late = new AbortController();
  const timeout = mock.method(AbortSignal, 'timeout', () => late.signal);
  t.teardown(() => timeout.mock.restore());
  let answers = 0;
  const request = async (asked: Parameters<typeof binding.http.request>[0]) => {
    const response = await binding.http.request(asked);
    answers += 1;
    if (answers === marketplaceNames.length - 1) late.abort(new DOMException('late', 'TimeoutError'));
    return response;
  };
  const watched = { ...binding, http: { ...binding.http, request } };
  const { products, sources } = await searchAll(watched, marketplaceNames, query, context, 300);
  t.equal(sources.filter(({ error }) => error === 'timeout').length, 1);
  t.ok(products.length > 0);
  t.equal(timeout.mock.calls[0]?.arguments[0], 300);
  timeout.mock.restore();
  doubles.fault('the-upstream', 'timeout', 3);
  t.match(await problemOf(searchAll(binding, marketplaceNames, query, context, 100)), { failure: 'timeout' });
});

t.test('the newest order is that of the marketplaces that have one', async (t) => {
  const { ask } = await openServed(t);
  const { results } = await ask<Answer>('/shop/search', { query: 'brass lantern', sort: 'newest', limit: 50 });
  const order = results.map(({ marketplace }) => marketplace);
  t.same(order.slice(0, 4), ['amazon', 'ebay', 'amazon', 'ebay']);
  t.ok(order.indexOf('google_shopping') > order.lastIndexOf('ebay'));
});
