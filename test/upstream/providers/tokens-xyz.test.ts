import t, { type Test } from 'tap';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { tokensXyz } from '../../../src/upstream/providers/tokens-xyz/adapter.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const adapter: Adapter = tokensXyz;
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const GOAT = 'CzLSujWBLFsSjncfkh59rUFqvafWcY5tzedWJSuypump';
const using = (operation: string) => ({
  adapter,
  upstream: { keys: { key: 'TOKENS_XYZ_KEY' } },
  options: { operation },
});

/** Operation -> a request and the keys of its result. */
const operations: Record<string, [Record<string, unknown>, string[]]> = {
  'asset-detail': [{ assetId: 'solana', include: 'profile,ohlcv' }, ['asset', 'includes']],
  'asset-profile': [{ assetId: 'solana' }, ['assetId', 'profile']],
  'asset-risk-details': [{ assetId: 'solana' }, ['assetId', 'mint', 'risk']],
  'asset-risk-summary': [
    { assetId: 'solana' },
    ['assetId', 'mint', 'risk', 'score', 'grade', 'label', 'isTrustedLaunch'],
  ],
  'asset-variants': [{ assetId: 'solana', kind: 'lst' }, ['assetId', 'variants']],
  'asset-markets': [{ assetId: 'solana', limit: 1 }, ['assetId', 'mint', 'markets', 'total']],
  'asset-tickers': [{ assetId: 'solana' }, ['assetId', 'tickers']],
  'asset-ohlcv': [{ assetId: 'solana', interval: '4H' }, ['assetId', 'mint', 'interval', 'candles']],
  'asset-price-chart': [{ assetId: 'solana' }, ['assetId', 'interval', 'from', 'to', 'candles']],
  'asset-description': [{ assetId: 'solana' }, ['assetId', 'description']],
  'asset-variant-market': [{ assetId: 'solana' }, ['assetId', 'mint', 'market']],
  'variant-markets': [{ mints: `${USDC},${GOAT}` }, ['variants']],
  curated: [{ list: 'majors' }, ['listId', 'assets']],
  resolve: [{ ref: 'anduril' }, ['assetId', 'asset', 'variant']],
  'risk-summary': [{ mint: USDC }, ['score', 'grade', 'label', 'tone', 'isTrustedLaunch', 'hasInsufficientData']],
  search: [{ q: 'tesla' }, ['query', 'results']],
};

adapterContract(t, 'an operation by GET', {
  ...using('resolve'),
  input: { ref: 'anduril' },
  result: { type: 'object', required: ['assetId', 'asset', 'variant'] },
  refusal: 'not-found',
});
adapterContract(t, 'an operation by POST', {
  ...using('market-snapshots'),
  input: { mints: [USDC, GOAT, USDC] },
  result: { type: 'array', minItems: 2, maxItems: 2, items: { required: ['address', 'token', 'hasMarket'] } },
  refusal: 'not-found',
});

for (const [operation, [input, keys]] of Object.entries(operations)) {
  t.test(`answers ${operation}`, async (t) => {
    const result = (await ask(t, operation, input)) as object;
    for (const key of keys) t.ok(key in result, key);
  });
}

async function ask(t: Test, operation: string, input: Record<string, unknown>) {
  const { binding, context } = await openSetting(t, using(operation));
  return adapter.call(input, binding, context);
}

t.test(
  'a page that is not there, or a refusal by what stands before it, is no word of the provider’s on an asset',
  async (t) => {
    const { binding, context } = await openSetting(t, using('asset-profile'));
    const answering = async (status: number, text: string) => {
      const json = (): unknown => JSON.parse(text);
      const request = async () => ({ status, headers: {}, body: Buffer.from(text), sent: '', json });
      const http = { ...binding.http, request };
      return (await problemOf(adapter.call({ assetId: 'solana' }, { ...binding, http }, context))).failure;
    };
    const word = (_tag: string) => JSON.stringify({ error: { _tag, message: 'no' } });
    t.equal(await answering(404, word('NotFoundError')), 'not-found');
    t.equal(await answering(400, word('BadRequestError')), 'invalid-input');
    t.equal(await answering(404, '<!DOCTYPE html><h1>404</h1>'), 'failed', 'a route that is gone');
    t.equal(await answering(404, '{"error":{"code":"404","message":"no deployment"}}'), 'failed', 'its host’s own');
    t.equal(await answering(400, '<html><h1>400 Bad Request</h1></html>'), 'failed');
  },
);

t.test('takes the ids of this service and answers in them', async (t) => {
  t.match(await ask(t, 'asset-detail', { assetId: `chain-a-${USDC}` }), {
    asset: { assetId: 'usd', primaryVariant: { chain: 'chain-a' } },
    resolution: { ref: `chain-a-${USDC}`, assetId: 'usd' },
  });
});

t.test('says experimental for the lowest trust tier, in both directions', async (t) => {
  t.match(await ask(t, 'asset-variants', { assetId: 'goat', trustTier: 'experimental' }), {
    variants: [{ mint: GOAT, trustTier: 'experimental', liquidityTier: 'tier3' }],
  });
});

t.test('keeps to the four documented tones', async (t) => {
  t.match(await ask(t, 'risk-summary', { mint: USDC }), { tone: 'success' });
  t.match(await ask(t, 'risk-summary', { mint: GOAT }), { tone: 'danger' });
});

t.test('gives stats their short names beside the provider’s', async (t) => {
  const { results } = (await ask(t, 'search', { q: 'bonk' })) as { results: [{ stats: Record<string, number> }] };
  const [{ stats }] = results;
  t.equal(stats.volume, stats.volume24hUSD);
  t.equal(stats.priceChange, stats.priceChange24hPercent);
});

t.test('gives the score and the market’s figures at the top, as its section has them', async (t) => {
  const { risk, ...summary } = (await ask(t, 'asset-risk-summary', { assetId: 'solana' })) as Record<string, unknown>;
  const { marketScore } = risk as { marketScore: Record<string, unknown> };
  for (const field of ['score', 'grade', 'label', 'tone', 'isTrustedLaunch', 'hasInsufficientData']) {
    t.equal(summary[field], marketScore[field], field);
  }
  t.type(summary.score, 'number');
  const snapshot = (await ask(t, 'asset-variant-market', { assetId: 'solana' })) as Record<string, unknown>;
  const market = snapshot.market as Record<string, unknown>;
  const sections = {
    price: 'price',
    liquidity: 'liquidity',
    volume: 'volume24hUSD',
    marketCap: 'marketCap',
    priceChange: 'priceChange24hPercent',
  };
  for (const [field, inMarket] of Object.entries(sections)) {
    t.type(snapshot[field], 'number', field);
    t.equal(snapshot[field], market[inMarket], field);
  }
});

t.test('refuses more addresses than the operation takes, before any call', async (t) => {
  const { binding, context, doubles } = await openSetting(t, using('variant-markets'));
  const mints = Array.from({ length: 51 }, (_, index) => `mint${index}`).join(',');
  const problem = await problemOf(adapter.call({ mints }, binding, context));
  t.match(problem, { failure: 'invalid-input', publicMessage: /between 1 and 50/ });
  t.same(doubles.calls(), { 'the-upstream': 0 });
});

t.test('lists each exchange with its pair, price and volume, page by page', async (t) => {
  const answer = await ask(t, 'asset-tickers', { assetId: 'solana', offset: 1, limit: 1 });
  t.match(answer, {
    assetId: 'solana',
    tickers: [{ exchange: 'Coinbase Exchange', pair: 'SOL/USD', base: 'SOL', target: 'USD' }],
    total: 3,
    offset: 1,
    limit: 1,
  });
  const { tickers } = answer as { tickers: [Record<string, unknown>] };
  for (const figure of ['price', 'volume24hUSD']) t.type(tickers[0][figure], 'number', figure);
});

t.test('answers an empty page for an asset that no market data provider follows', async (t) => {
  t.match(await ask(t, 'asset-tickers', { assetId: 'tesla' }), { tickers: [], total: null, offset: 0 });
});

t.test('answers markets of unknown mints as unknown', async (t) => {
  const nobody = '1nc1nerator11111111111111111111111111111111';
  t.match(await ask(t, 'variant-markets', { mints: [USDC, nobody] }), {
    variants: [
      { mint: USDC, chain: 'chain-a' },
      { mint: nobody, assetId: null, chain: null, market: null },
    ],
  });
});

const WEEK = 7 * 24 * 3600;

t.test('asks for the last week of candles unless told otherwise, up to the end that the caller names', async (t) => {
  const to = 1_760_000_000;
  t.match(await ask(t, 'asset-ohlcv', { assetId: 'solana', to }), { interval: '1H', from: to - WEEK, to });
  const { includes } = (await ask(t, 'asset-detail', { assetId: 'solana', include: 'ohlcv', ohlcvTo: to })) as {
    includes: { ohlcv: { data: { time: number }[] } };
  };
  t.equal(includes.ohlcv.data.length, 168);
  t.ok(includes.ohlcv.data.every(({ time }) => time >= to - WEEK && time <= to));
});

t.test('never asks for more candles than the provider gives: the latest are answered', async (t) => {
  for (const from of [undefined, 0]) {
    const answer = (await ask(t, 'asset-ohlcv', { assetId: 'solana', interval: '1m', from })) as {
      from: number;
      to: number;
      candles: { time: number }[];
    };
    t.equal(answer.to - answer.from, 9_999 * 60);
    t.ok(answer.candles.length >= 9_999, `${answer.candles.length} candles`);
  }
  const detail = { assetId: 'solana', include: 'ohlcv', ohlcvInterval: '1m', ohlcvFrom: 1_700_000_000 };
  t.match(await ask(t, 'asset-detail', detail), { includes: { ohlcv: { ok: true } } });
  t.match(await ask(t, 'asset-ohlcv', { assetId: 'solana', interval: '1W', from: 0 }), { from: 1_262_304_000 });
});

t.test('names the chain of a variant, also where the provider leaves it out', async (t) => {
  t.match(await ask(t, 'resolve', { ref: 'jupiter' }), { variant: { chain: 'chain-a' } });
});
