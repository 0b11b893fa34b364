import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { sandboxSecret } from '../../../src/sandbox/doubles/index.ts';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import { okxDexMarket } from '../../../src/upstream/providers/okx/adapter.ts';
import { authorizeOkx, signOkx, withNumbers } from '../../../src/upstream/providers/okx/client.ts';
import { newsOf, sentimentOf } from '../../../src/upstream/providers/okx/token.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const adapter: Adapter = okxDexMarket as Adapter;
const BONK = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN';
const NOBODY = '1nc1nerator11111111111111111111111111111111';
const WOKB = '0xe538905cf8410324e03a5a23c1c177a474d59b2b';

const keys = { key: 'SECRET_key', secret: 'SECRET_secret', passphrase: 'SECRET_passphrase' };
const using = (operation: string, chain = 'chain-a') => ({
  adapter,
  upstream: { keys, settings: { chains: { 'chain-a': '501', 'chain-b': '196' } } },
  options: { operation, chain },
});

adapterContract(t, 'discovery', {
  ...using('discovery'),
  input: { action: 'hot_tokens', limit: 3 },
  result: {
    required: ['chain', 'action', 'data'],
    properties: {
      chain: { const: 'chain-a' },
      data: {
        minItems: 3,
        maxItems: 3,
        items: { properties: { price: { type: 'number' }, marketCap: { type: 'number' } } },
      },
    },
  },
  refusal: 'unavailable',
});
adapterContract(t, 'the market', {
  ...using('market'),
  input: { action: 'candlesticks', tokenAddress: BONK, bar: '1H', limit: 2 },
  result: { required: ['chain', 'action', 'data'] },
  refusal: 'unavailable',
});

async function ask(t: Test, operation: string, input: object, chain?: string) {
  const setting = await openSetting(t, using(operation, chain));
  const call = () =>
    adapter.call({ ...input }, setting.binding, setting.context) as Promise<{ data: never; missing?: string[] }>;
  return { ...setting, call };
}

t.test('signs timestamp, method, path with query, and body', async (t) => {
  // Both made with: printf %s <text> | openssl dgst -sha256 -hmac top-secret -binary | base64
  const at = '2026-01-05T12:00:00.000Z';
  const candles = `/api/v6/dex/market/candles?chainIndex=501&tokenContractAddress=${BONK}&bar=1H`;
  t.equal(
    signOkx({ method: 'GET', path: candles, body: '' }, at, 'top-secret'),
    'Xq/pV/WpKBNLVEIneun7CRezXoJdKfSPLn8Fu4jJIH8=',
  );
  const prices = { method: 'POST', path: '/api/v6/dex/market/price-info', body: '[{"chainIndex":"501"}]' };
  t.equal(signOkx(prices, at, 'top-secret'), 'oD2WNMULk8iLIWECEnPtqLRicizTVjwBcTlzTOKHLPs=');
});

t.test('signs OKX’s own path, also through a proxy that has a path before it', async (t) => {
  const secrets = { key: 'k', secret: 's', passphrase: 'p' };
  const { headers = {} } = authorizeOkx(
    { method: 'GET', path: '/proxy/okx/api/v6/dex/market/trades?limit=1', body: '' },
    secrets,
  );
  const signed = { method: 'GET', path: '/api/v6/dex/market/trades?limit=1', body: '' };
  t.equal(headers['ok-access-sign'], signOkx(signed, String(headers['ok-access-timestamp']), 's'));
});

t.test('the double takes only what is signed as it was sent', async (t) => {
  const { doubles } = await openSetting(t, using('market'));
  const base = doubles.baseUrlOf('the-upstream');
  const secrets = Object.fromEntries(
    Object.entries(keys).map(([secret, variable]) => [secret, sandboxSecret(variable)]),
  );
  const path = '/api/v6/dex/market/price-info';
  const body = JSON.stringify([{ chainIndex: '501', tokenContractAddress: BONK }]);
  const send = async (
    signed: { path?: string; body?: string; method?: string },
    changed: Record<string, string> = {},
  ) => {
    const { headers } = authorizeOkx({ method: 'POST', path, body, ...signed }, secrets);
    const answer = await request(base + path, { method: 'POST', headers: { ...headers, ...changed }, body });
    return { status: answer.statusCode, code: ((await answer.body.json()) as { code: string }).code };
  };
  t.same(await send({}), { status: 200, code: '0' });
  t.same(await send({ body: body.replace(BONK, JUP) }), { status: 401, code: '50113' });
  t.same(await send({ path: `${path}?limit=1` }), { status: 401, code: '50113' });
  t.same(await send({ method: 'GET' }), { status: 401, code: '50113' });
  t.same(await send({}, { 'ok-access-timestamp': '2020-01-01T00:00:00.000Z' }), { status: 401, code: '50102' });
  t.same(await send({}, { 'ok-access-passphrase': 'wrong' }), { status: 401, code: '50105' });
});

t.test('the share of the ten largest holders is that whatever is asked for', async (t) => {
  const share = async (fields: object) => {
    const { call } = await ask(t, 'market', { action: 'holder_analysis', tokenAddress: BONK, ...fields });
    return (await call()).data as { top10HoldPercent: number; holders: unknown[] };
  };
  const all = await share({ limit: 50 });
  t.ok(all.top10HoldPercent > 0);
  const few = await share({ limit: 2 });
  t.equal(few.holders.length, 2);
  t.equal(few.top10HoldPercent, all.top10HoldPercent);
  t.equal((await share({ tagFilter: '3' })).top10HoldPercent, all.top10HoldPercent);
});

t.test('wallets have addresses as their chain writes them', async (t) => {
  const holdersOn = async (chain: string, tokenAddress: string) => {
    const { call } = await ask(t, 'market', { action: 'holder_analysis', tokenAddress, limit: 3 }, chain);
    return ((await call()).data as { holders: { holderWalletAddress: string }[] }).holders;
  };
  for (const { holderWalletAddress } of await holdersOn('chain-a', BONK)) {
    t.match(holderWalletAddress, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
  }
  for (const { holderWalletAddress } of await holdersOn('chain-b', WOKB)) {
    t.match(holderWalletAddress, /^0x[0-9a-f]{40}$/);
  }
});

t.test('turns text into numbers where it is an amount, and only there', async (t) => {
  const row = {
    chainIndex: '501',
    price: '0.00002154',
    change: '-2.2',
    holders: '980000',
    tiny: '1.5e-9',
    lpBurnedPercent: '',
    tokenSymbol: '404',
    tokenName: '1',
    tokenContractAddress: '0123',
    txHash: '12',
    id: '77',
    protocolId: '120596',
    walletType: '1',
    clusterConcentration: 'Low',
    isHoneypot: false,
    fundingSource: '',
    nested: [{ amountUsd: '10' }],
  };
  t.same(withNumbers(row), {
    price: 0.00002154,
    change: -2.2,
    holders: 980000,
    tiny: 1.5e-9,
    lpBurnedPercent: null,
    tokenSymbol: '404',
    tokenName: '1',
    tokenContractAddress: '0123',
    txHash: '12',
    id: '77',
    protocolId: '120596',
    walletType: '1',
    clusterConcentration: 'Low',
    isHoneypot: false,
    fundingSource: '',
    nested: [{ amountUsd: 10 }],
  });
});

t.test('gives candles as named numbers, the latest first', async (t) => {
  const { call } = await ask(t, 'market', { action: 'candlesticks', tokenAddress: BONK, bar: '1D', limit: 3 });
  const { tokenAddress, bar, candles } = (await call()).data as {
    tokenAddress: string;
    bar: string;
    candles: Record<string, number>[];
  };
  t.same({ tokenAddress, bar, count: candles.length }, { tokenAddress: BONK, bar: '1D', count: 3 });
  for (const candle of candles) {
    t.same(Object.keys(candle), ['time', 'open', 'high', 'low', 'close', 'volume', 'volumeUsd', 'confirmed']);
    t.ok(Number(candle.high) >= Number(candle.low));
  }
  t.equal(Number(candles[0]?.time) - Number(candles[1]?.time), 86_400_000);
  t.same(
    candles.map(({ confirmed }) => confirmed),
    [false, true, true],
  );
});

t.test('merges prices, names and risk figures of one token', async (t) => {
  const { call, doubles } = await ask(t, 'market', { action: 'token_overview', tokenAddress: BONK });
  t.match((await call()).data, [
    {
      tokenSymbol: 'BONK',
      tokenName: 'Bonk',
      decimal: 5,
      price: 0.00002154,
      priceChange24H: -2.2,
      advanced: { riskControlLevel: 1 },
    },
  ]);
  t.same(doubles.calls(), { 'the-upstream': 3 });
});

t.test('gives an overview of several tokens in two calls, and says which it does not know', async (t) => {
  const { call, doubles } = await ask(t, 'market', {
    action: 'token_overview',
    tokenAddresses: [BONK, NOBODY, JUP, BONK],
  });
  const { data, missing } = await call();
  t.match(data, [{ tokenSymbol: 'BONK' }, { tokenSymbol: 'JUP' }]);
  t.same(missing, [NOBODY]);
  t.same(doubles.calls(), { 'the-upstream': 2 });
});

t.test('finds tokens of another chain however their address is written', async (t) => {
  const mixed = `0x${WOKB.slice(2).toUpperCase()}`;
  const { call } = await ask(t, 'market', { action: 'token_overview', tokenAddress: mixed }, 'chain-b');
  t.match(await call(), {
    chain: 'chain-b',
    data: [{ tokenSymbol: 'WOKB', tokenContractAddress: mixed, price: 178.4 }],
  });
  for (const action of ['holder_analysis', 'candlesticks', 'whale_trades', 'token_risk', 'cluster_check']) {
    const { call } = await ask(t, 'market', { action, tokenAddress: mixed }, 'chain-b');
    t.match(await call(), { data: { tokenAddress: mixed } }, action);
  }
  const { call: search } = await ask(t, 'discovery', { action: 'search', keyword: mixed }, 'chain-b');
  t.match(await search(), { data: [{ tokenSymbol: 'WOKB' }] });
  const { call: signals } = await ask(t, 'discovery', { action: 'smart_money', tokenAddress: mixed }, 'chain-b');
  t.match(await signals(), { data: [{ token: { symbol: 'WOKB' } }] });
});

t.test('analyses holders, trades, risks and clusters', async (t) => {
  const about = async (action: string, more: object = {}) =>
    (await (await ask(t, 'market', { action, tokenAddress: BONK, ...more })).call()).data as Record<string, unknown>;
  const found = await about('holder_analysis', { limit: 12 });
  // 6 + 3 + 2 + 1.5 + 1.2 + 1 + 0.8571 + 0.75 + 0.6667 + 0.6, the double's ten largest holders
  t.equal(found.top10HoldPercent, 17.5738);
  t.equal((found.holders as unknown[]).length, 12);
  t.match(await about('whale_trades', { limit: 2 }), {
    trades: [{ price: Number, volume: Number, type: /buy|sell/ }, {}],
  });
  t.match(await about('token_risk'), {
    scan: { riskLevel: 'LOW', buyTaxes: 0, sellTaxes: null },
    advanced: { riskControlLevel: 1 },
  });
  t.match(await about('cluster_check'), { overview: { rugPullPercent: 0.4 }, topHolders: { holdingPercent: 60.4 } });
});

t.test('does not know unknown tokens, whatever is asked about them', async (t) => {
  for (const action of [
    'token_overview',
    'holder_analysis',
    'candlesticks',
    'whale_trades',
    'token_risk',
    'cluster_check',
  ]) {
    const { call } = await ask(t, 'market', { action, tokenAddress: NOBODY });
    t.match(await problemOf(call()), { failure: 'not-found', publicMessage: new RegExp(NOBODY) }, action);
  }
});

t.test('finds tokens, signals and traders', async (t) => {
  const rows = async (input: object, chain?: string) =>
    (await (await ask(t, 'discovery', input, chain)).call()).data as Record<string, unknown>[];
  const movers = await rows({ action: 'top_movers', timeFrame: '4', limit: 5 });
  const changes = movers.map(({ change }) => Number(change));
  t.same(
    changes,
    changes.toSorted((one, other) => other - one),
  );
  t.match(await rows({ action: 'search', keyword: 'bonk' }), [{ tokenSymbol: 'BONK', liquidity: 9_800_000 }]);
  t.same(await rows({ action: 'search', keyword: 'no such token' }), []);
  t.match(await rows({ action: 'smart_money', walletType: '3', limit: 2 }), [
    { walletType: '3', amountUsd: Number },
    {},
  ]);
  t.match(await rows({ action: 'smart_money', tokenAddress: JUP }), [
    { token: { symbol: 'JUP', marketCapUsd: Number } },
  ]);
  t.equal((await rows({ action: 'top_traders', timeFrame: '2', limit: 4 })).length, 4);
  t.match(await rows({ action: 'hot_tokens' }, 'chain-b'), [
    { tokenSymbol: 'USDT' },
    { tokenSymbol: 'WOKB' },
    { tokenSymbol: 'XDOG' },
  ]);
});

t.test('reads news and sentiment; a symbol that nobody writes about has none', async (t) => {
  const { binding, context } = await openSetting(t, using('market'));
  const articles = await newsOf('BONK', 2, binding, context);
  t.match(articles, [{ title: /^BONK/, url: /^https/, time: Number }, {}]);
  t.same(await newsOf('NOBODY', 2, binding, context), []);
  t.match(await sentimentOf('BONK', binding, context), { mentionCount: 418, sentiment: { bullishRatio: 0.58 } });
  t.equal(await sentimentOf('NOBODY', binding, context), undefined);
});

/** The problem that a call ends with where OKX answers this to it. */
async function openAnswering(t: Test) {
  let answer = { status: 200, body: {} };
  const server = createServer((_request, response) => {
    response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream = { name: 'okx', adapter: adapter.name, baseUrl: '', settings: { chains: { 'chain-a': '501' } } };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = openUpstreamHttp({ upstream, adapter, baseUrl, secrets: keys });
  t.teardown(async () => {
    await http.close();
    server.close();
  });
  return async (code: string, { status = 200, msg = 'no', ...asked }: Partial<Asked> = {}) => {
    const { operation = 'discovery', input = { action: 'hot_tokens' } } = asked;
    const { binding, context } = await openSetting(t, using(operation));
    answer = { status, body: { code, msg, data: [] } };
    return await problemOf(adapter.call(input, { ...binding, http }, context));
  };
}

interface Asked {
  status: number;
  msg: string;
  operation: string;
  input: Record<string, string>;
}

t.test('an answer whose code is not 0 is a failure, and one about the key or region means unavailable', async (t) => {
  const problem = await openAnswering(t);
  t.equal((await problem('51000')).failure, 'failed');
  t.equal((await problem('50114')).failure, 'unavailable');
  t.equal((await problem('80001')).failure, 'unavailable');
});

t.test(
  'an address or a keyword that OKX does not take is the caller’s fault, and what the gateway chose is not',
  async (t) => {
    const problem = await openAnswering(t);
    const market = {
      status: 400,
      operation: 'market',
      input: { action: 'candlesticks', tokenAddress: 'z'.repeat(44) },
    };
    const refused = { failure: 'invalid-input', publicMessage: /does not take/ };
    t.match(await problem('51000', { ...market, msg: 'Parameter tokenContractAddress error' }), refused);
    const search = { status: 400, input: { action: 'search', keyword: ' ' } };
    t.match(await problem('50014', { ...search, msg: 'Parameter search cannot be empty' }), refused);
    t.equal((await problem('51000', { ...market, msg: 'Parameter chainIndex error' })).failure, 'failed');
    t.equal((await problem('51000', { ...market, msg: 'Parameter bar error' })).failure, 'failed');
  },
);
