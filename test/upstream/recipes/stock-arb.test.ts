import t, { type Test } from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { startDoubles } from '../../../src/sandbox/doubles/index.ts';
import type { Adapter, Binding } from '../../../src/upstream/adapter.ts';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import { jupiterData } from '../../../src/upstream/providers/jupiter/adapter.ts';
import { xstocksRegistry } from '../../../src/upstream/providers/xstocks/adapter.ts';
import { stockArb } from '../../../src/upstream/recipes/stock-arb.ts';
import { openCallContext } from '../call-context.ts';
import { problemOf } from '../providers/contract.ts';
import { openCatalogue, openServed } from '../served-routes.ts';

async function open(t: Test) {
  const named = (name: string, adapter: Adapter): Upstream => ({
    name,
    adapter: adapter.name,
    baseUrl: 'https://data.example',
  });
  const doubles = await startDoubles({
    upstreams: [named('registry', xstocksRegistry), named('prices', jupiterData as Adapter)],
  });
  t.teardown(() => doubles.close());
  const bound = (role: string, adapter: Adapter): Binding => {
    const upstream = named(role, adapter);
    const http = openUpstreamHttp({ upstream, adapter, baseUrl: doubles.baseUrlOf(role), secrets: {} });
    t.teardown(() => http.close());
    return { upstream: role, adapter: adapter.name, options: {}, model: undefined, models: {}, settings: {}, http };
  };
  const bindings = { registry: bound('registry', xstocksRegistry), prices: bound('prices', jupiterData as Adapter) };
  const clock = { now: Date.now() };
  const context = openCallContext(t, { now: () => clock.now });
  const call = (input: object, options: object = {}, bound = bindings) =>
    stockArb.call({ ...input }, bound, context, options);
  return { doubles, clock, call, bindings };
}

t.test('compares every tokenized stock with its share', async (t) => {
  const { call } = await open(t);
  const { opportunities, unpriced, stats, fetched_at } = await call({});
  const tesla = opportunities.find(({ ticker }) => ticker === 'TSLA');
  t.match(tesla, {
    xstock_symbol: 'TSLAx',
    onchain_price: 352.4,
    underlying_price: 349.6,
    direction: 'premium',
    premium_discount_pct: 0.8009,
  });
  t.match(
    opportunities.find(({ ticker }) => ticker === 'AAPL'),
    { direction: 'discount', ui_multiplier: 1.0021 },
  );
  t.match(unpriced, [{ ticker: 'COIN', xstock_symbol: 'COINx' }]);
  const mean = opportunities.reduce((sum, row) => sum + row.premium_discount_pct, 0) / opportunities.length;
  t.ok(Math.abs(Number(stats.average_premium_discount_pct) - mean) < 0.0001);
  t.equal(stats.tracked, opportunities.length + unpriced.length);
  t.ok(Date.parse(fetched_at));
});

t.test('the published example names tokens by their own addresses', async (t) => {
  const { call } = await open(t);
  const { opportunities } = await call({});
  const { resultExample } = openCatalogue().routes.find(({ path }) => path === '/stock/arb') ?? {};
  const example = resultExample as Awaited<ReturnType<typeof call>>;
  for (const { xstock_symbol, solana_mint } of [...example.opportunities, ...example.unpriced]) {
    t.match(
      opportunities.find((row) => row.xstock_symbol === xstock_symbol),
      { solana_mint },
    );
  }
});

t.test('sorts as asked and leaves out what is thinly traded', async (t) => {
  const { call } = await open(t);
  const percents = async (input: object) => (await call(input)).opportunities.map((row) => row.premium_discount_pct);
  const signed = await percents({ sort: 'premium' });
  t.same(
    signed,
    signed.toSorted((one, other) => other - one),
  );
  t.same(await percents({ sort: 'discount' }), signed.toReversed());
  t.same(
    await percents({}),
    signed.toSorted((one, other) => Math.abs(other) - Math.abs(one)),
  );
  const liquid = await call({ min_liquidity_usd: 100_000 });
  t.notOk(liquid.opportunities.some(({ ticker }) => ticker === 'META'));
  t.equal(liquid.stats.tracked, (await call({})).stats.tracked);
});

t.test('calls actionable only what is large, liquid and fresh', async (t) => {
  const { call, clock } = await open(t);
  const actionable = async (options: object) =>
    (await call({}, options)).opportunities.filter((row) => row.actionable).map(({ ticker }) => ticker);
  t.same(await actionable({ actionablePercent: 1, actionableLiquidityUsd: 0 }), ['META']);
  t.same(await actionable({ actionablePercent: 1, actionableLiquidityUsd: 10_000 }), []);
  t.same(await actionable({ actionablePercent: 0.5 }), ['AAPL', 'TSLA']);
  clock.now += 3 * 60 * 60_000;
  t.same(await actionable({ actionablePercent: 0.5 }), [], 'the share has no price younger than an hour');
});

t.test('says null, not nothing, where nothing is known', async (t) => {
  const { call, bindings } = await open(t);
  const { prices } = bindings;
  const request = async (asked: Parameters<typeof prices.http.request>[0]) => {
    const response = await prices.http.request(asked);
    const rows = Object.entries(response.json() as Record<string, { liquidity?: number; stockData?: object }>);
    const bare = rows.map(([mint, { liquidity: _, ...row }]) => [mint, row]);
    return { ...response, json: () => Object.fromEntries(bare) };
  };
  const thin = { ...bindings, prices: { ...prices, http: { ...prices.http, request } } };
  const { opportunities } = await call({}, {}, thin);
  t.ok(opportunities.length > 0);
  for (const row of opportunities) t.match(row, { onchain_liquidity_usd: null, actionable: false });
});

t.test('has no average where nothing has a price', async (t) => {
  const { call, bindings } = await open(t);
  const { prices } = bindings;
  const request = async (asked: Parameters<typeof prices.http.request>[0]) => {
    return { ...(await prices.http.request(asked)), json: () => ({}) };
  };
  const { opportunities, stats } = await call(
    {},
    {},
    { ...bindings, prices: { ...prices, http: { ...prices.http, request } } },
  );
  t.same(opportunities, []);
  t.match(stats, { average_premium_discount_pct: null, actionable_count: 0 });
});

t.test('asks the sources once a minute, and the registry once a day', async (t) => {
  const { call, clock, doubles } = await open(t);
  await Promise.all([call({}), call({ sort: 'premium' }), call({})]);
  const first = doubles.calls();
  t.equal(first.prices, 1);
  clock.now += 30_000;
  await call({});
  t.same(doubles.calls(), first);
  clock.now += 31_000;
  await call({});
  t.same(doubles.calls(), { ...first, prices: 2 });
});

t.test('fails when a source fails: no number is made up', async (t) => {
  const { call, doubles } = await open(t);
  doubles.fault('prices', '500', 1);
  t.match(await problemOf(call({})), { failure: 'failed', upstream: 'prices' });
});

t.test('one token of which Jupiter says that it has no multiplier keeps nobody from the others', async (t) => {
  const mint = 'XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB';
  const scaledUiConfig = { multiplier: null, newMultiplier: null, newMultiplierEffectiveAt: null };
  const tesla = { usdPrice: 303, liquidity: null, stockData: { price: 300, updatedAt: null }, scaledUiConfig };
  const answer = (path: string) =>
    path.includes('/price/v3') ? { status: 200, json: { [mint]: tesla, Unpriced: null } } : undefined;
  const { ask } = await openServed(t, { standIn: { upstream: 'jupiter', answer } });
  t.match(await ask('/stock/arb'), {
    opportunities: [{ ticker: 'TSLA', premium_discount_pct: 1, onchain_liquidity_usd: null, ui_multiplier: 1 }],
  });
});
