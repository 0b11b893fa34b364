import t from 'tap';
import type { StockResearchResult } from '../../../generated/schemas/stock-research-result.ts';
import { consensusLabel } from '../../../src/upstream/recipes/stock-figures.ts';
import { problemOf } from '../providers/contract.ts';
import { failingAt, openServed } from '../served-routes.ts';

const path = '/stock/research';

t.test('fills every figure from the sources', async (t) => {
  const { ask } = await openServed(t);
  const report = await ask<StockResearchResult>(path, { ticker: 'AAPL' });
  t.match(report, {
    ticker: 'AAPL',
    company_name: 'Apple Inc',
    current_price: 233.35,
    fundamentals: {
      market_cap: 3_480_000_000_000,
      pe_ratio: 35.4,
      forward_pe: 30.1,
      dividend_yield_pct: 0.44,
      week_52_low: 163.35,
      week_52_high: 261.35,
      next_earnings: { eps_estimate: 1.58, eps_actual: null },
      last_earnings: { eps_actual: 1.64 },
    },
    analyst_consensus: { price_target: { low: 187, mean: 252, high: 303 } },
    recent_news: [{ headline: /^Apple Inc/, source: 'Sandbox Wire' }, {}, {}],
    social_sentiment: { label: /^(bullish|bearish|mixed)$/ },
    cached: false,
  });
  const today = new Date().toISOString().slice(0, 10);
  const { last_earnings: last, next_earnings: next } = report.fundamentals ?? {};
  t.ok(next && next.date > today);
  t.ok(last && last.date < today);
  const competitors = report.competitors ?? [];
  t.ok(competitors.length > 0 && competitors.every(({ ticker }) => ['MSFT', 'GOOGL', 'DELL'].includes(ticker)));
});

t.test('names as sources only pages that the sources themselves gave', async (t) => {
  const { ask } = await openServed(t);
  const {
    sources,
    recent_news: news,
    social_sentiment: social,
  } = await ask<StockResearchResult>(path, { ticker: 'AAPL' });
  const urls = sources.map(({ url }) => url);
  t.equal(new Set(urls).size, urls.length);
  const told = [...(news ?? []), ...(social?.sample_posts ?? [])].map(({ url }) => String(url));
  t.ok(news?.length && social?.sample_posts.length);
  t.same(
    told.filter((url) => !urls.includes(url)),
    [],
  );
});

t.test('takes the symbol of the token for the share’s, and describes the token', async (t) => {
  const { ask } = await openServed(t);
  for (const ticker of ['AAPLx', 'aaplx', 'aapl']) {
    const report = await ask<StockResearchResult>(path, { ticker });
    t.same(
      [report.ticker, report.tokenized],
      [
        'AAPL',
        {
          xstock_symbol: 'AAPLx',
          solana_mint: 'XsbEhLAtcf6HdfpFZ5xEMdqW8nfAvcsP5bdudRLJzJp',
          onchain_price: 231.1,
          // (231.1 - 233.35) / 233.35 in percent
          premium_discount_pct: -0.9642,
          liquidity: 1_900_000,
          robinhood_available: true,
        },
      ],
    );
  }
});

t.test('a stock without a token has none, and one that is not traded has no price', async (t) => {
  const { ask } = await openServed(t);
  t.match(await ask(path, { ticker: 'IBM' }), { ticker: 'IBM', tokenized: null });
  t.match(await ask(path, { ticker: 'COIN' }), {
    tokenized: { xstock_symbol: 'COINx', onchain_price: null, premium_discount_pct: null },
  });
});

t.test('payers on chain-d get that chain’s stock token', async (t) => {
  const { ask } = await openServed(t);
  const expected = {
    robinhood_symbol: 'TSLA',
    chain: 'eip155:4663',
    trading_hours: '24/5',
    xstock_reference: {
      xstock_symbol: 'TSLAx',
      solana_mint: 'XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB',
      onchain_price: 352.4,
      premium_discount_pct: 0.8009,
      liquidity: 4_300_000,
    },
  };
  t.same((await ask(path, { ticker: 'TSLA' }, 'chain-d')).tokenized, expected);
  t.same((await ask(`/chain-d${path}`, { ticker: 'TSLAx' })).tokenized, expected);
  t.equal((await ask(path, { ticker: 'NFLX' }, 'chain-d')).tokenized, null);
});

t.test('sells nothing on SPY and QQQ to payers on chain-d', async (t) => {
  const { ask, doubles } = await openServed(t);
  for (const ticker of ['SPY', 'QQQ', 'qqq']) {
    await t.rejects(ask(`/chain-d${path}`, { ticker }), { code: 'invalid_request' });
  }
  t.equal(doubles.calls().chat, 0);
  t.match(await ask(path, { ticker: 'SPY' }), {
    ticker: 'SPY',
    fundamentals: { market_cap: null },
    tokenized: { xstock_symbol: 'SPYx', robinhood_available: false },
  });
});

t.test('keeps a report for thirty minutes, one for each chain, and says so', async (t) => {
  const clock = { now: Date.now() };
  const { ask, doubles } = await openServed(t, { now: () => clock.now });
  const first = await ask(path, { ticker: 'AAPL' });
  const words = () => doubles.calls().chat;
  t.equal(words(), 1);
  clock.now += 29 * 60_000;
  t.same(await ask(path, { ticker: 'AAPLx' }), { ...first, cached: true });
  t.equal(words(), 1);
  t.match(await ask(path, { ticker: 'AAPL' }, 'chain-d'), { cached: false });
  t.equal(words(), 2);
  clock.now += 2 * 60_000;
  t.match(await ask(path, { ticker: 'AAPL' }), { cached: false, researched_at: new Date(clock.now).toISOString() });
  t.equal(words(), 3);
});

t.test('a section whose source fails is null, the rest stays', async (t) => {
  const sections: [RegExp, string][] = [
    [/company-news/, 'recent_news'],
    [/stock\/peers/, 'competitors'],
    [/profile2|metric|calendar/, 'fundamentals'],
    [/recommendation|price-target/, 'analyst_consensus'],
  ];
  for (const [paths, section] of sections) {
    const { ask } = await openServed(t, { standIn: failingAt('finnhub', paths) });
    const report = await ask(path, { ticker: 'AAPL' });
    t.equal(report[section], null, section);
    t.same(report.missing, [section]);
    t.match(report, { current_price: 233.35, overview: /\w/, social_sentiment: { summary: /\w/ } });
  }
  const unsearched = await openServed(t, { standIn: failingAt('search', /./) });
  t.match(await unsearched.ask(path, { ticker: 'AAPL' }), { social_sentiment: null, current_price: 233.35 });
  const unlisted = await openServed(t, { standIn: failingAt('xstocks', /./) });
  t.match(await unlisted.ask(path, { ticker: 'AAPLx' }), { ticker: 'AAPL', tokenized: null });
});

t.test('says what is missing, and does not keep a report whose source may answer again', async (t) => {
  const clock = { now: Date.now() };
  const { ask, doubles } = await openServed(t, { now: () => clock.now });
  doubles.fault('search', '500', 1);
  t.match(await ask(path, { ticker: 'AAPL' }), {
    social_sentiment: null,
    missing: ['social_sentiment'],
    cached: false,
  });
  t.match(await ask(path, { ticker: 'AAPL' }), { social_sentiment: {}, missing: [], cached: false });
  t.match(await ask(path, { ticker: 'AAPL' }), { missing: [], cached: true });
});

t.test('keeps a report whose missing part is likely to stay missing', async (t) => {
  const answer = (asked: string) =>
    /price-target/.test(asked) ? { status: 403, json: { error: 'no access to this resource' } } : undefined;
  const { ask } = await openServed(t, { standIn: { upstream: 'finnhub', answer } });
  t.match(await ask(path, { ticker: 'AAPL' }), { missing: ['analyst_consensus'], cached: false });
  t.match(await ask(path, { ticker: 'AAPL' }), { missing: ['analyst_consensus'], cached: true });
});

t.test('fails without a price or words, and keeps no failure', async (t) => {
  const unpriced = await openServed(t, { standIn: failingAt('finnhub', /quote/) });
  t.match(await problemOf(unpriced.ask(path, { ticker: 'AAPL' })), { failure: 'failed', upstream: 'finnhub' });
  const { ask, doubles } = await openServed(t);
  // One fault for each of the two ways to serve it.
  doubles.fault('chat', '500', 2);
  t.match(await problemOf(ask(path, { ticker: 'AAPL' })), { failure: 'failed', upstream: 'chat' });
  t.match(await ask(path, { ticker: 'AAPL' }), { cached: false });
});

t.test('without a model that searches, sentiment is counted from mentions', async (t) => {
  const { ask, doubles } = await openServed(t, { without: ['XAI_API_KEY'] });
  t.match(await ask(path, { ticker: 'AAPL' }), {
    social_sentiment: {
      label: /^(bullish|bearish|mixed)$/,
      summary: /^\d+ mentions .* \d+ positive, \d+ negative$/,
      sample_posts: [],
    },
  });
  t.equal(doubles.calls().search, 0);
});

t.test('puts the opinions of analysts into a word', async (t) => {
  const label = (strongBuy: number, buy: number, hold: number, sell: number, strongSell: number) =>
    consensusLabel({ period: null, strongBuy, buy, hold, sell, strongSell });
  t.equal(label(0, 0, 0, 0, 0), null);
  t.equal(label(10, 10, 0, 0, 0), 'strong buy'); // 1.5
  t.equal(label(7, 14, 17, 8, 2), 'buy'); // (14 + 14 - 8 - 4) / 48 = 0.333
  t.equal(label(2, 6, 12, 4, 1), 'hold'); // (4 + 6 - 4 - 2) / 25 = 0.16
  t.equal(label(0, 0, 10, 5, 0), 'sell'); // -0.333
  t.equal(label(0, 0, 0, 4, 4), 'strong sell'); // -1.5
});
