/** The sandbox's wallet: what it signs, and that live mode knows nothing of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../gateway.ts';

const rpc = async (url: string, request: unknown): Promise<Record<string, unknown>> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) };
  return (await fetch(`${url}/sandbox/wallet`, init)).json() as Promise<Record<string, unknown>>;
};

t.test('the wallet refuses what it cannot sign, with the codes of wallets', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { url } = gateway;
  const payer = gateway.sandbox.payer('chain-c');
  t.same(await rpc(url, { method: 'eth_accounts' }), { result: [payer] });
  t.same(await rpc(url, { method: 'wallet_switchEthereumChain', params: [{ chainId: '0x14a34' }] }), { result: null });
  const refused: [object, number][] = [
    [{ method: 'wallet_switchEthereumChain', params: [{ chainId: '0x1' }] }, 4902],
    [{ method: 'eth_signTypedData_v4', params: ['0x0000000000000000000000000000000000000001', '{}'] }, 4100],
    [{ method: 'eth_signTypedData_v4', params: [payer, 'no'] }, -32602],
    [{ method: 'eth_sendTransaction', params: [] }, -32601],
    [{ method: 'constructor' }, -32601],
    [{ method: 'solana_signTransaction', params: ['AAAA'] }, -32602],
    [{ method: 'eth_accounts', params: 1 }, -32602],
    [[], -32600],
  ];
  for (const [request, code] of refused) t.match(await rpc(url, request), { error: { code } }, JSON.stringify(request));
  t.match(await rpc(url, { method: 'solana_accounts' }), { result: [] }, 'no Solana here');
});

t.test('in live mode there is no wallet, no script of it, and no page that asks for it', async (t) => {
  const gateway = await startGateway({
    networks: ['chain-c'],
    between: async () => ({ mode: 'live', routes: undefined, headers: {} }),
  });
  t.teardown(gateway.stop);
  t.equal((await fetch(`${gateway.url}/sandbox/wallet.js`)).status, 404);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"method":"eth_accounts"}' };
  t.equal((await fetch(`${gateway.url}/sandbox/wallet`, init)).status, 404);
  const page = await (
    await fetch(`${gateway.url}/endpoints/image/family-a-2-pro`, { headers: { accept: 'text/html' } })
  ).text();
  t.match(page, 'data-mode="live"');
});

t.test('no script has a key of the sandbox, and none of the pages has its wallet', async (t) => {
  const gateway = await startGateway({ networks: ['chain-a', 'chain-c'] });
  t.teardown(gateway.stop);
  const { evm, solana } = gateway.state;
  const keys = [...Object.values(evm).map(({ privateKey }) => privateKey), solana?.secretKey ?? ''];
  const bundle = readdirSync(join('generated', 'storefront')).map((name) =>
    readFileSync(join('generated', 'storefront', name), 'utf8'),
  );
  const script = await (await fetch(`${gateway.url}/sandbox/wallet.js`)).text();
  t.match(script, 'Sandbox wallet (play money)');
  for (const text of [...bundle, script]) {
    t.ok(keys.every((key) => key !== '' && !text.includes(key) && !text.includes(key.replace('0x', ''))));
  }
  t.notMatch(bundle.join('\n'), 'Sandbox wallet (play money)');
});
