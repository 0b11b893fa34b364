/** The Solana node for pages that pay: it tells what a payment needs, and is nobody's free node. */
import t from 'tap';
import { createSolanaNode } from '../../src/storefront/wallets/solana-node.ts';
import { startGateway } from '../gateway.ts';

t.test('pages are told the blockhash and the mint of the asset, and nothing else', async (t) => {
  const gateway = await startGateway({ networks: ['chain-a', 'chain-c'] });
  t.teardown(gateway.stop);
  const mint = gateway.state.solana?.mint;
  const ask = (body: string, path = '/storefront/solana/chain-a', method = 'POST') =>
    fetch(gateway.url + path, { method, ...(method === 'POST' && { body }) });
  const call = async (method: string, params: unknown[] = []) =>
    (await ask(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))).json() as Promise<Record<string, unknown>>;

  t.match(await call('getLatestBlockhash'), { jsonrpc: '2.0', id: 7, result: { value: { blockhash: String } } });
  t.match(await call('getAccountInfo', [mint, { encoding: 'base64' }]), {
    result: { value: { data: [String, 'base64'] } },
  });
  for (const method of ['sendTransaction', 'getProgramAccounts', 'getBalance', 'toString', '__proto__'])
    t.match(await call(method, [mint]), { error: { code: -32601 } }, method);
  for (const params of [[], ['11111111111111111111111111111111'], [{ mint }], [[mint]]])
    t.match(await call('getAccountInfo', params), { error: { code: -32602 } }, JSON.stringify(params));
  t.match(await (await ask('[]')).json(), { error: { code: -32600 } }, 'no batches');
  t.equal((await ask('{"jsonrpc"')).status, 400);
  t.equal((await ask(JSON.stringify({ method: 'getLatestBlockhash', params: ['x'.repeat(2_000)] }))).status, 413);
  t.equal((await ask('{}', '/storefront/solana/chain-c')).status, 404, 'not a Solana network');
  t.equal((await ask('{}', '/storefront/solana/constructor')).status, 404);
  t.equal((await ask('', '/storefront/solana/chain-a', 'GET')).status, 405);
});

t.test('however many ask, the node is asked once in a while', async (t) => {
  t.intercept(performance, 'now', { value: () => 0 });
  let asked = 0;
  let isDown = false;
  const node = createSolanaNode('http://unused.invalid', 'Mint', async () => {
    asked += 1;
    if (isDown) throw new Error('http://key@node.example is down');
    return { value: asked };
  });
  const ask = () => node({ id: 1, method: 'getLatestBlockhash', params: [] });
  await Promise.all(Array.from({ length: 100 }, ask));
  await ask();
  t.equal(asked, 1);
  isDown = true;
  const mintOf = () => node({ id: 'a', method: 'getAccountInfo', params: ['Mint'] });
  const answers = await Promise.all(Array.from({ length: 100 }, mintOf));
  t.equal(asked, 2, 'nor more often when it fails');
  t.match(answers[0], { id: 'a', error: { code: -32603, message: /no answer/ } });
  t.notMatch(JSON.stringify(answers), /node\.example/, "its address is nobody else's");
});

t.test('pages are told the networks that can be paid on', async (t) => {
  const gateway = await startGateway({ networks: ['chain-a', 'chain-c'] });
  t.teardown(gateway.stop);
  const { networks } = (await (await fetch(`${gateway.url}/storefront/networks`)).json()) as { networks: object[] };
  t.match(networks, [
    { id: 'chain-a', name: 'Chain A', family: 'solana', asset: { symbol: 'USDC', decimals: 6 } },
    { id: 'chain-c', name: 'Chain C', family: 'evm', caip2: 'eip155:84532' },
  ]);
  t.equal(networks.length, 2);
  t.notMatch(JSON.stringify(networks), /rpc|127\.0\.0\.1/, 'where nodes are is not told');
});
