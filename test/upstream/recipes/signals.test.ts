import t, { type Test } from 'tap';
import { sentimentLabel, targetPrice } from '../../../src/upstream/recipes/price-view.ts';
import { problemOf } from '../providers/contract.ts';
import { failingAt, openServed } from '../served-routes.ts';

interface Signal {
  sentiment: string;
  sentiment_score: number;
  current_price: number;
  price_target_7d: number;
  signals: string[];
}

function checkView(t: Test, view: Signal, mostPercent: number): void {
  t.ok(Math.abs(view.sentiment_score) <= 1);
  t.equal(view.sentiment, sentimentLabel(view.sentiment_score));
  t.ok(Math.abs(view.price_target_7d / view.current_price - 1) <= mostPercent / 100 + 1e-5);
  t.equal(view.signals.length, 3);
}

t.test('a stock signal rests on the share’s own price and dates', async (t) => {
  const { ask } = await openServed(t);
  const signal = await ask<Signal>('/stock/signal', { ticker: 'NVDAx' });
  t.match(signal, {
    ticker: 'NVDA',
    current_price: 181.94,
    market_status: 'regular',
    next_earnings: /^\d{4}-\d\d-\d\d$/,
    tokenized: { xstock_symbol: 'NVDAx', onchain_price: 182.05, premium_discount_pct: 0.0605, liquidity: 3_600_000 },
  });
  checkView(t, signal, 25);
});

t.test('every stock that is listed by name has its token on chain-a, other stocks have none', async (t) => {
  const { ask } = await openServed(t);
  for (const ticker of ['AAPL', 'TSLA', 'NVDA', 'SPY', 'META', 'GOOGL', 'MSFT', 'AMZN', 'QQQ', 'CRCL']) {
    t.match(await ask('/stock/signal', { ticker }), {
      ticker,
      tokenized: {
        xstock_symbol: `${ticker}x`,
        solana_mint: /^Xs/,
        onchain_price: Number,
        premium_discount_pct: Number,
        liquidity: Number,
        robinhood_available: !['SPY', 'QQQ'].includes(ticker),
      },
    });
  }
  for (const ticker of ['IBM', 'DIS', 'JPM', 'KO']) {
    t.match(await ask('/stock/signal', { ticker }), { ticker, tokenized: null });
  }
});

t.test('a stock signal is about the chain that is paid on', async (t) => {
  const { ask } = await openServed(t);
  t.match(await ask('/stock/signal', { ticker: 'NVDA' }, 'chain-d'), {
    tokenized: {
      robinhood_symbol: 'NVDA',
      chain: 'eip155:4663',
      trading_hours: '24/5',
      xstock_reference: { onchain_price: 182.05 },
    },
  });
  await t.rejects(ask('/chain-d/stock/signal', { ticker: 'QQQ' }), { code: 'invalid_request' });
  t.match(await ask('/chain-c-main/stock/signal', { ticker: 'SPY' }), { ticker: 'SPY', next_earnings: null });
});

t.test('a stock signal says null for what its sources cannot tell', async (t) => {
  const { ask } = await openServed(t, { standIn: failingAt('finnhub', /market-status|calendar|metric|company-news/) });
  t.match(await ask('/stock/signal', { ticker: 'AAPL' }), {
    market_status: null,
    next_earnings: null,
    current_price: 233.35,
  });
});

t.test('a token signal rests on the token’s own price', async (t) => {
  const { ask } = await openServed(t);
  const signal = await ask<Signal>('/token/signal', { ticker: '$bonk' });
  t.match(signal, { ticker: 'BONK', mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', current_price: 0.00002154 });
  checkView(t, signal, 60);
  t.match(await ask('/chain-c-main/token/signal', { ticker: 'BONK' }), { success: true, data: { ticker: 'BONK' } });
});

t.test('a token signal does without the market’s figures, but not without a price or a view', async (t) => {
  const unread = await openServed(t, { standIn: failingAt('okx', /./) });
  t.match(await unread.ask('/token/signal', { ticker: 'BONK' }), { current_price: 0.00002154 });
  const unfound = await openServed(t, { standIn: failingAt('jupiter', /./) });
  t.match(await problemOf(unfound.ask('/token/signal', { ticker: 'BONK' })), {
    failure: 'failed',
    upstream: 'jupiter',
  });
  const mute = await openServed(t, { standIn: failingAt('chat', /./) });
  t.match(await problemOf(mute.ask('/token/signal', { ticker: 'BONK' })), { failure: 'failed', upstream: 'chat' });
});

t.test('targets follow from price and change, and words from the score', async (t) => {
  t.equal(targetPrice(200, 12.5), 225);
  t.equal(targetPrice(0.00002154, -10), 0.000019386);
  t.equal(targetPrice(398.4, 3), 410.352);
  t.same([0.16, 0.15, 0, -0.15, -0.16].map(sentimentLabel), ['bullish', 'neutral', 'neutral', 'neutral', 'bearish']);
});
