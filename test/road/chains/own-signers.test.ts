/** Live mode with keys that settle in this process: what settling costs, and several instances with one key. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { toHex } from 'viem';
import type { Network, Upstream } from '../../../src/catalogue/types.ts';
import { openApp } from '../../../src/gateway/app.ts';
import { readConfig } from '../../../src/gateway/config.ts';
import { openLive } from '../../../src/live.ts';
import { createLog } from '../../../src/log.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import { openWallet } from '../../../src/rails/x402/payer.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';
import { sendProof } from '../../clients.ts';
import { freePort } from '../../free-port.ts';
import { loadSound } from '../../load-catalogue.ts';

const BASE = 'eip155:8453';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const AT_ONCE = 8;

const catalogue = loadSound();
const asLive = (network: Network): Network => ({ ...network, sandbox: network.live });
const networks = [...catalogue.networks.values()].filter(({ id }) => ['chain-a', 'chain-c'].includes(id));
const chains = await startChains({ networks: networks.map(asLive) });
t.teardown(chains.stop);
const doubles = await startDoubles({ upstreams: [...catalogue.upstreams.values()] });
t.teardown(doubles.close);
const directory = join(t.testdir({}), 'data');
const rpcUrl = chains.evm['chain-c']?.rpcUrl ?? '';
const rpc = createRpc(rpcUrl);

/** An instance on the one store, with the one key of each family. */
async function startInstance(coinDollars: Readonly<Record<string, string>>): Promise<string> {
  const port = await freePort();
  const config = readConfig({
    TURNPIKE_MODE: 'live',
    HOST: '127.0.0.1',
    PORT: String(port),
    TURNPIKE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    TURNPIKE_PAY_TO_CHAIN_A: chains.payTo['chain-a'],
    TURNPIKE_PAY_TO_CHAIN_C: chains.payTo['chain-c'],
    TURNPIKE_SIGNER_EVM: chains.wallets.evm.facilitator.privateKey,
    TURNPIKE_SIGNER_SOLANA: chains.wallets.solana.facilitator.secretKey,
    TURNPIKE_RPC_URL_CHAIN_A: chains.solana?.rpcUrl,
    TURNPIKE_RPC_URL_CHAIN_C: rpcUrl,
    ...coinDollars,
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_DATA: directory,
    TURNPIKE_DRAIN_SECONDS: '1',
    REPLICATE_API_TOKEN: sandboxSecret('REPLICATE_API_TOKEN'),
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
  });
  if (!config.live) throw new Error('the configuration is not live');
  // Every other network would be asked on the internet.
  const reachable = { ...catalogue, networks: new Map(networks.map((network) => [network.id, network])) };
  const live = await openLive(config.live, networks);
  const platform = { ...live, baseUrlOf: ({ name }: Upstream) => doubles.baseUrlOf(name) };
  const intervals = { ...usualIntervals, weighEveryMs: 500 };
  const app = await openApp(config, reachable, platform, createLog(config.logLevel), Date.now, intervals);
  t.teardown(async () => {
    await app.close();
    await platform.stop();
  });
  return app.url;
}

const callTo = (url: string, input: object, path = '/image/family-e-2') => ({
  url: url + path,
  init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) },
});
type Call = ReturnType<typeof callTo>;

const offered = async ({ url, init }: Call): Promise<string[]> => {
  const unpaid = await fetch(url, init);
  if (unpaid.status !== 402) throw new Error(`${unpaid.status} instead of 402`);
  const required = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
  return required.accepts.map(({ network }: { network: string }) => network).sort();
};

async function proofFor({ url, init }: Call): Promise<Record<string, string>> {
  const { 'chain-c': access } = chains.evm;
  const evm = { 'chain-c': { ...access, ...access?.asset, asset: access?.asset.address } };
  const client = await openWallet({ mode: 'sandbox', evm, payTo: {} } as Parameters<typeof openWallet>[0], BASE);
  const unpaid = await fetch(url, init);
  const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
}

const gasAt = async (gwei: bigint) => {
  await rpc('anvil_setNextBlockBaseFeePerGas', [toHex(gwei * 10n ** 9n)]);
  await rpc('evm_mine', []);
};

t.test('two instances with one key settle at once, and take no number of a transaction twice', async (t) => {
  const gas = { TURNPIKE_COIN_USD_CHAIN_C: '10' };
  const urls = [await startInstance(gas), await startInstance(gas)];
  const calls = Array.from({ length: 2 * AT_ONCE }, (_, index) =>
    callTo(urls[index % 2] ?? '', { prompt: `lighthouse ${index}` }),
  );
  const proofs = await Promise.all(calls.map(proofFor));
  const answers = await Promise.all(calls.map((call, index) => sendProof(call, proofs[index] ?? {})));
  for (const answer of answers) t.equal(answer.status, 200, answer.ok ? '' : await answer.text());
  t.equal(await chains.balance('chain-c', chains.payTo['chain-c'] ?? ''), 60_000n * BigInt(2 * AT_ONCE));
});

t.test('what is not worth settling is not offered', async (t) => {
  // A settlement on Solana costs four cents, so that an offer there costs eight or more.
  const url = await startInstance({ TURNPIKE_COIN_USD_CHAIN_A: '4000', TURNPIKE_COIN_USD_CHAIN_C: '10' });
  const cheap = callTo(url, { prompt: 'a lighthouse' });
  const dearer = callTo(url, { prompt: 'a lighthouse', resolution: '2k' });
  const overMpp = { ...cheap, url: `${url}/mpp/image/family-e-2` };

  t.same(await offered(cheap), [BASE], 'six cents are not worth it on Solana');
  t.same(await offered(dearer), [BASE, SOLANA], 'ten are');
  t.match((await fetch(overMpp.url, overMpp.init)).headers.get('www-authenticate'), /method="evm"/);
  const signed = await proofFor(cheap);

  // 120,000 gas are more than a dollar now.
  await gasAt(1_000n);
  while ((await offered(dearer)).includes(BASE)) await delay(100);
  t.same(await offered(dearer), [SOLANA], 'the network has left the offer');
  const late = await sendProof(cheap, signed);
  t.equal(late.status, 402);
  t.match(
    await late.json(),
    { detail: /settling costs more than half the price/ },
    'what was signed before is refused',
  );

  for (const call of [cheap, overMpp]) {
    const unpaid = await fetch(call.url, call.init);
    t.equal(unpaid.status, 402, 'where no offer is left it is still a price');
    t.match(await unpaid.json(), { status: 402, detail: /costs 0\.06 USD and cannot be paid at the moment/ });
    t.equal(unpaid.headers.get('www-authenticate'), null);
  }
  t.same(await offered(cheap), []);

  await gasAt(1n);
  while ((await offered(cheap)).length === 0) await delay(100);
  t.same(await offered(cheap), [BASE], 'it is back');
  t.match((await fetch(overMpp.url, overMpp.init)).headers.get('www-authenticate'), /method="evm"/);
  t.equal((await sendProof(cheap, signed)).status, 200, 'and what was signed is taken');
});
