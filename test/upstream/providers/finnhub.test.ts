import { mock } from 'node:test';
import t from 'tap';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { finnhub } from '../../../src/upstream/providers/finnhub/adapter.ts';
import * as company from '../../../src/upstream/providers/finnhub/company.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const adapter: Adapter = finnhub as Adapter;
const using = (operation: string) => ({ adapter, upstream: { keys: { key: 'FINNHUB_KEY' } }, options: { operation } });

adapterContract(t, 'a quote', {
  ...using('quote'),
  input: { symbol: 'AAPL' },
  result: {
    required: ['answer'],
    properties: { answer: { required: ['c', 'pc'], properties: { c: { const: 233.35 } } } },
  },
  refusal: 'unavailable',
});
adapterContract(t, 'news', {
  ...using('news'),
  input: { symbol: 'AAPL', from: '2026-01-01', to: '2026-01-14' },
  result: { required: ['answer'], properties: { answer: { type: 'array', minItems: 1 } } },
  refusal: 'unavailable',
});

t.test('reads a company in dollars, percent and milliseconds', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const { binding, context } = await openSetting(t, using('quote'));
  t.match(await company.quoteOf('AAPL', binding, context), { price: 233.35, changePercent: Number });
  t.match(await company.profileOf('AAPL', binding, context), {
    name: 'Apple Inc',
    marketCap: 3_480_000_000_000,
    currency: 'USD',
  });
  t.same(await company.metricsOf('TSLA', binding, context), {
    peRatio: 191.2,
    forwardPe: 162.5,
    dividendYield: null,
    yearLow: 244.72,
    yearHigh: 391.55,
  });
  const period = `${new Date().toISOString().slice(0, 7)}-01`;
  t.match(await company.recommendationsOf('AAPL', binding, context), { period, strongBuy: Number });
  t.match(await company.priceTargetOf('AAPL', binding, context), { low: 187, mean: 252, high: 303 });
  t.same(await company.peersOf('AAPL', binding, context), ['MSFT', 'GOOGL', 'DELL']);
  t.equal(await company.marketStatus(binding, context), 'regular');
  const news = await company.newsOf({ symbol: 'AAPL', from: '2026-01-01', to: '2026-01-14' }, binding, context);
  t.match(news, [{ headline: /^Apple/, url: /^https/ }, {}, {}]);
  t.ok(Number(news[0]?.time) > Number(news[1]?.time));
  t.match(await company.mentionsOf({ symbol: 'AAPL', from: '2026-01-01' }, binding, context), {
    positive: Number,
    total: Number,
  });
});

t.test('does not take zeros and empty records for figures', async (t) => {
  const { binding, context } = await openSetting(t, using('quote'));
  t.equal(await company.quoteOf('ZZZZ', binding, context), undefined);
  t.equal(await company.profileOf('SPY', binding, context), undefined);
  t.equal(await company.metricsOf('ZZZZ', binding, context), undefined);
  t.equal(await company.recommendationsOf('ZZZZ', binding, context), undefined);
  t.equal(await company.priceTargetOf('ZZZZ', binding, context), undefined);
  t.equal(await company.mentionsOf({ symbol: 'ZZZZ', from: '2026-01-01' }, binding, context), undefined);
  t.same(await company.peersOf('ZZZZ', binding, context), []);
  t.same(await company.earningsOf({ symbol: 'SPY', from: '2026-01-01', to: '2026-12-31' }, binding, context), []);
});

t.test('a stock of another country is none that it knows, and no refusal of the key', async (t) => {
  const { binding, context } = await openSetting(t, using('quote'));
  for (const symbol of ['VOD.L', 'RY.TO', 'SAP.DE']) {
    t.match(
      await problemOf(company.quoteOf(symbol, binding, context)),
      { failure: 'not-found', publicMessage: `There is no US stock ${symbol}` },
      symbol,
    );
  }
  t.equal(await company.quoteOf('BRK.Z', binding, context), undefined, 'a class of shares');
});

t.test('gives earnings dates in order', async (t) => {
  const { binding, context } = await openSetting(t, using('earnings'));
  const dates = await company.earningsOf({ symbol: 'AAPL', from: '2000-01-01', to: '2100-01-01' }, binding, context);
  t.match(dates, [{ epsActual: 1.64 }, { epsActual: null, epsEstimate: 1.58 }]);
});
