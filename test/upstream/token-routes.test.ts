import t from 'tap';
import { problemOf } from './providers/contract.ts';
import { openServed } from './served-routes.ts';

const groups = ['stock', 'token', 'tokens-api'];
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

t.test('every route on tokens and stocks answers its example with what its schema promises', async (t) => {
  const { catalogue, ask } = await openServed(t);
  const routes = catalogue.routes.filter(({ endpoint }) => groups.includes(endpoint.group));
  for (const { path, example } of routes) {
    t.equal(typeof (await ask(path, example)), 'object', path);
  }
});

t.test(
  'twelve endpoints on tokens and stocks, seventeen of the tokens API, mirrored where the others are',
  async (t) => {
    const { catalogue } = await openServed(t);
    const mirrored = (network: string, group: string) =>
      catalogue.routes.filter(
        ({ kind, networks, endpoint }) => kind === 'mirror' && networks[0] === network && endpoint.group === group,
      );
    const endpoints = (group: string) => catalogue.endpoints.filter((endpoint) => endpoint.group === group).length;
    t.equal(endpoints('token') + endpoints('stock'), 12);
    t.equal(endpoints('tokens-api'), 17);
    t.equal(mirrored('chain-c', 'token').length, 9);
    t.equal(mirrored('chain-c', 'tokens-api').length, 17);
    t.equal(mirrored('chain-e', 'tokens-api').length, 17);
    t.equal(mirrored('chain-d', 'stock').length, 2);
  },
);

t.test('mirrors of the tokens API wrap what the base route answers', async (t) => {
  const { ask } = await openServed(t);
  const input = { ref: 'anduril' };
  const answer = await ask('/tokens-api/resolve', input);
  t.same(await ask('/chain-c-main/tokens-api/resolve', input), { success: true, data: answer });
  t.same(await ask('/chain-e/tokens-api/resolve', input), { success: true, data: answer });
});

t.test('mints are a list or a text on every route, up to the documented number', async (t) => {
  const { ask } = await openServed(t);
  const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN';
  const untimed = (answer: unknown) => JSON.stringify(answer).replaceAll(/"lastFetchedAt":\d+/g, '');
  for (const prefix of ['', '/chain-c-main', '/chain-e']) {
    for (const path of ['/tokens-api/market-snapshots', '/tokens-api/variant-markets']) {
      const asList = await ask(prefix + path, { mints: [USDC, JUP] });
      t.equal(untimed(await ask(prefix + path, { mints: `${USDC}, ${JUP}` })), untimed(asList), prefix + path);
      t.match(untimed(asList), JUP);
    }
  }
  for (const [path, most] of [
    ['market-snapshots', 250],
    ['variant-markets', 50],
  ] as const) {
    const many = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => USDC.slice(0, 40) + String(index).padStart(4, '1').replaceAll('0', 'z'),
      );
    await t.resolves(ask(`/tokens-api/${path}`, { mints: many(most) }), path);
    await t.rejects(ask(`/tokens-api/${path}`, { mints: many(most + 1) }), { code: 'invalid_request' });
    await t.rejects(ask(`/tokens-api/${path}`, { mints: many(most + 1).join(',') }), { code: 'invalid_request' });
    await t.rejects(ask(`/tokens-api/${path}`, { mints: [] }), { code: 'invalid_request' });
  }
});

t.test('every curated list that is named is answered, and no other is asked for', async (t) => {
  const { ask, doubles } = await openServed(t);
  const assetsOf = async (list?: string) => {
    const { listId, assets } = await ask<{ listId: string; assets: { assetId: string }[] }>('/tokens-api/curated', {
      ...(list && { list }),
    });
    t.equal(listId, list ?? 'all');
    return assets.map(({ assetId }) => assetId);
  };
  const all = await assetsOf();
  t.same(await assetsOf('all'), all);
  for (const list of ['majors', 'lsts', 'currencies', 'rwas', 'etfs', 'metals', 'stocks']) {
    const assets = await assetsOf(list);
    t.ok(assets.length < all.length && assets.every((asset) => all.includes(asset)), list);
  }
  const before = doubles.calls();
  await t.rejects(ask('/tokens-api/curated', { list: 'stonks' }), { code: 'invalid_request' });
  t.same(doubles.calls(), before, 'the provider answers all of them for a list that it does not know');
});

t.test('sections of an asset may be asked for with spaces between, and each once', async (t) => {
  const { ask } = await openServed(t);
  for (const include of ['profile, risk', ' profile ,risk , profile ']) {
    const { includes } = await ask('/tokens-api/asset-detail', { assetId: 'jupiter', include });
    t.match(includes, { profile: { ok: true }, risk: { ok: true } }, include);
    t.same(Object.keys(includes as object), ['profile', 'risk'], include);
  }
});

t.test('an unknown asset, mint or token is not found, and says so to the caller', async (t) => {
  const { ask } = await openServed(t);
  const nobody = '1nc1nerator11111111111111111111111111111111';
  const requests: [string, object][] = [
    ['/tokens-api/asset-detail', { assetId: 'no-such-asset' }],
    ['/tokens-api/asset-profile', { assetId: `chain-a-${nobody}` }],
    ['/tokens-api/resolve', { ref: 'no-such-asset' }],
    ['/token/chain-a-market', { action: 'token_overview', tokenAddress: nobody }],
    ['/token/signal', { ticker: 'NOSUCHTOKEN' }],
    ['/token/news', { token: nobody }],
    ['/token/starter-kit', { prompt: 'a token', ca_reference: nobody }],
    ['/stock/research', { ticker: 'ZZZZ' }],
    ['/stock/signal', { ticker: 'ZZZZ' }],
  ];
  for (const [path, input] of requests) {
    const problem = await problemOf(ask(path, input));
    t.match(problem, { failure: 'not-found', publicMessage: /\w/ }, path);
  }
});

t.test('a mint that nobody has read yet is an asset of its own, and too little is known for a score', async (t) => {
  const { ask } = await openServed(t);
  const mint = '1nc1nerator11111111111111111111111111111111';
  t.match(await ask('/tokens-api/resolve', { mint }), { assetId: `chain-a-${mint}`, variant: { mint } });
  t.match(await ask('/tokens-api/risk-summary', { mint }), { hasInsufficientData: true });
});

t.test('discovery and market mirrors say that they succeeded, beside the result', async (t) => {
  const { ask } = await openServed(t);
  const input = { action: 'search', keyword: 'bonk' };
  const answer = await ask('/token/chain-a-discovery', input);
  t.same(await ask('/chain-c-main/token/chain-a-discovery', input), { success: true, ...answer });
});

t.test('traders come in the order that is asked for, with the same figures in each', async (t) => {
  const { ask } = await openServed(t);
  type Trader = Record<string, number>;
  const tradersBy = async (sortBy?: string) =>
    (await ask<{ data: Trader[] }>('/token/chain-a-discovery', { action: 'top_traders', ...(sortBy && { sortBy }) }))
      .data;
  const named = ({ lastActiveTimestamp: _, ...trader }: Trader) => JSON.stringify(trader);
  const usual = (await tradersBy()).map(named);
  t.equal(usual.length, 20);
  const orders = {
    1: 'realizedPnlUsd',
    2: 'winRatePercent',
    3: 'txs',
    4: 'txVolume',
    5: 'realizedPnlPercent',
  };
  for (const [sortBy, field] of Object.entries(orders)) {
    const traders = await tradersBy(sortBy);
    const figures = traders.map((trader) => trader[field] ?? Number.NaN);
    t.same(
      figures,
      figures.toSorted((one, other) => other - one),
      field,
    );
    t.same(traders.map(named).sort(), [...usual].sort(), field);
  }
});

t.test('what needs another field is refused before it is paid for', async (t) => {
  const { ask } = await openServed(t);
  const refused: [string, object][] = [
    ['/token/chain-a-discovery', { action: 'search' }],
    ['/token/chain-b-discovery', { action: 'search' }],
    ['/token/chain-b-discovery', { action: 'smart_money' }],
    ['/token/chain-a-discovery', { action: 'hot_tokens', timeFrame: '5' }],
    ['/token/chain-a-discovery', { action: 'top_traders', sortBy: '15' }],
    ['/token/chain-a-market', { action: 'candlesticks' }],
    [
      '/token/chain-a-market',
      { action: 'holder_analysis', tokenAddresses: ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'] },
    ],
    ['/token/chain-b-market', { action: 'token_risk', tokenAddress: '0xe538905cf8410324e03a5a23c1c177a474d59b2b' }],
    ['/tokens-api/resolve', {}],
    ['/tokens-api/resolve', { mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', ref: 'usd' }],
    ['/tokens-api/asset-markets', { assetId: 'usd', limit: 51 }],
    ['/tokens-api/asset-tickers', { assetId: 'usd', order: 'volume_asc' }],
    ['/tokens-api/asset-ohlcv', { assetId: 'usd', interval: '2H' }],
    ['/tokens-api/asset-detail', { assetId: 'usd', include: 'profile,secrets' }],
    ['/token/launchpad-trending', { limit: 3 }],
  ];
  for (const [path, input] of refused)
    await t.rejects(ask(path, input), { code: 'invalid_request' }, JSON.stringify(input));
});

t.test('who asks of a token, and names none, is not told to ask for something else', async (t) => {
  const { ask } = await openServed(t);
  const lacking = [{ path: '/tokenAddress', message: 'is required' }];
  for (const input of [
    { action: 'token_overview' },
    { action: 'candlesticks' },
    { action: 'holder_analysis', tokenAddresses: [USDC] },
  ])
    t.same(await ask('/token/chain-a-market', input).catch(({ details }) => details), lacking);
  await t.resolves(ask('/token/chain-a-market', { action: 'token_overview', tokenAddresses: [USDC] }));
});

t.test('who writes more tokens into a text than a call takes is told how many it takes', async (t) => {
  const { ask } = await openServed(t);
  for (const [path, most] of [
    ['/tokens-api/variant-markets', 50],
    ['/tokens-api/market-snapshots', 250],
  ] as const) {
    const mints = Array.from({ length: most + 1 }, () => USDC).join(',');
    const told = await ask(path, { mints }).catch(({ details }) => details);
    t.match(told, [{}, { path: '/mints', expected: new RegExp(`\\b${most}\\b`) }]);
  }
});
