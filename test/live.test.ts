import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Network, Upstream } from '../src/catalogue/types.ts';
import { ConfigProblem } from '../src/environment.ts';
import { openApp } from '../src/gateway/app.ts';
import { readConfig } from '../src/gateway/config.ts';
import { openLive } from '../src/live.ts';
import { createLog } from '../src/log.ts';
import { localFacilitator } from '../src/payment/facilitators/local.ts';
import { openWallet } from '../src/rails/x402/payer.ts';
import { startChains } from '../src/sandbox/chains/index.ts';
import { sandboxSecret, startDoubles } from '../src/sandbox/doubles/index.ts';
import { sendProof } from './clients.ts';
import { freePort } from './free-port.ts';
import { loadSound } from './load-catalogue.ts';
import { front, serve } from './payment/facilitators/front.ts';

const catalogueDirectory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';

/** The network as it is live, with a local chain in its place. */
const asLive = (network: Network): Network => ({ ...network, sandbox: network.live });

t.test('live mode sells what it has keys for, through a facilitator given by URL', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-live-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const networks = [...loadSound(catalogueDirectory).networks.values()].filter(({ id }) => id === 'chain-c');
  const chains = await startChains({ networks: networks.map(asLive) });
  t.teardown(chains.stop);
  const facilitator = await serve(front(localFacilitator(chains.facilitatorOptions)));
  t.teardown(facilitator.stop);
  const doubles = await startDoubles({ upstreams: [...loadSound(catalogueDirectory).upstreams.values()] });
  t.teardown(doubles.close);

  const port = await freePort();
  const rpcUrl = chains.evm['chain-c']?.rpcUrl ?? '';
  const config = readConfig({
    TURNPIKE_MODE: 'live',
    HOST: '127.0.0.1',
    PORT: String(port),
    TURNPIKE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    TURNPIKE_PAY_TO_EVM: chains.payTo['chain-c'],
    TURNPIKE_FACILITATOR_URL: facilitator.url,
    TURNPIKE_RPC_URL_CHAIN_C: rpcUrl,
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: catalogueDirectory,
    REPLICATE_API_TOKEN: sandboxSecret('REPLICATE_API_TOKEN'),
    LOG_LEVEL: 'silent',
  });
  if (!config.live) throw new Error('the configuration is not live');
  const catalogue = loadSound(config.catalogueDirectory);
  const live = await openLive(config.live, [...catalogue.networks.values()]);
  // The providers' doubles stand where the providers are.
  const platform = { ...live, baseUrlOf: ({ name }: Upstream) => doubles.baseUrlOf(name) };
  const app = await openApp(config, catalogue, platform, createLog('silent'));
  t.teardown(async () => {
    await app.close();
    await platform.stop();
  });

  const call = {
    url: `${app.url}/image/family-e-2`,
    init: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'a lighthouse' }),
    },
  };
  const unpaid = await fetch(call.url, call.init);
  t.equal(unpaid.status, 402);
  t.equal(unpaid.headers.get('turnpike-mode'), null);
  const { 'chain-c': access } = chains.evm;
  const evm = { 'chain-c': { ...access, ...access?.asset, asset: access?.asset.address } };
  const client = await openWallet(
    { mode: 'sandbox', evm, payTo: {} } as Parameters<typeof openWallet>[0],
    'eip155:8453',
  );
  const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  t.same(
    challenge.accepts.map(({ network }) => network),
    ['eip155:8453'],
    'and nothing without a pay-to address',
  );
  const proof = client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
  const answer = await sendProof(call, proof);
  const body = await answer.text();
  t.equal(answer.status, 200, body);
  t.notMatch(body, /"sandbox":true/);
  t.equal(await chains.balance('chain-c', chains.payTo['chain-c'] ?? ''), 60_000n);

  t.notMatch(await (await fetch(`${app.url}/llms.txt`)).text(), /sandbox|^export /m);
  for (const path of ['/sandbox', '/sandbox/calls', '/sandbox/faults']) {
    t.equal((await fetch(app.url + path)).status, 404, path);
  }
  const { resources } = (await (await fetch(`${app.url}/x402-resources`)).json()) as { resources: { slug: string }[] };
  const slugs = resources.map(({ slug }) => slug);
  t.ok(slugs.includes('image/family-e-2'));
  t.notOk(slugs.includes('tokens-api/search'), 'its provider has no key');
  t.equal((await fetch(`${app.url}/tokens-api/search`, { method: 'POST' })).status, 404);
  t.ok([...app.missing.values()].flat().includes('TOKENS_XYZ_API_KEY'));

  t.same(await (await fetch(`${app.url}/v1/models`)).json(), { object: 'list', data: [] });
  t.notOk(slugs.includes('credits/credits'), 'credits would pay for nothing');
  t.equal((await fetch(`${app.url}/v1/credits`, { method: 'POST' })).status, 404);
  t.equal((await fetch(`${app.url}/chat`)).status, 404);
  const page = await (await fetch(app.url, { headers: { accept: 'text/html' } })).text();
  t.match(page, 'For agents');
  t.notMatch(page, '/chat');
});

t.test('live mode starts although its facilitator is down, and offers nothing on its networks', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-live-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const port = await freePort();
  const config = readConfig({
    TURNPIKE_MODE: 'live',
    HOST: '127.0.0.1',
    PORT: String(port),
    TURNPIKE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: `http://127.0.0.1:${await freePort()}`,
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: catalogueDirectory,
    REPLICATE_API_TOKEN: 'a key',
    LOG_LEVEL: 'silent',
  });
  if (!config.live) throw new Error('the configuration is not live');
  const catalogue = loadSound(config.catalogueDirectory);
  const platform = await openLive(config.live, [...catalogue.networks.values()]);
  const app = await openApp(config, catalogue, platform, createLog('silent'));
  t.teardown(async () => {
    await app.close();
    await platform.stop();
  });
  const answer = await fetch(`${app.url}/image/family-e-2`, { method: 'POST' });
  t.equal(answer.status, 402);
  t.match(await answer.json(), { accepts: [] });
  t.match(await (await fetch(`${app.url}/healthz`)).json(), { networks: [] });
});

const enough = {
  TURNPIKE_MODE: 'live',
  TURNPIKE_PUBLIC_URL: 'https://gateway.example',
  TURNPIKE_FACILITATOR_URL: 'https://facilitator.example',
  TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
};
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

t.test("a provider's key with quotes around it is none, and the log says so once", async (t) => {
  const quoted = { OPENAI_API_KEY: '"a secret key"', XAI_API_KEY: " 'another' ", REPLICATE_API_TOKEN: ' a"key\n' };
  const { live } = readConfig({ ...enough, ...quoted, TURNPIKE_PAY_TO_EVM: EVM });
  if (!live) throw new Error('the configuration is not live');
  const told: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (details: object) => void told.push(details) };
  const platform = await openLive(live, [], log);
  t.teardown(platform.stop);
  const upstream = [...loadSound(catalogueDirectory).upstreams.values()][0] as Upstream;
  const secretOf = (variable: string) => platform.secretOf(variable, upstream);
  t.same(['OPENAI_API_KEY', 'OPENAI_API_KEY', 'XAI_API_KEY'].map(secretOf), [undefined, undefined, undefined]);
  t.equal(secretOf('REPLICATE_API_TOKEN'), 'a"key');
  t.same(told, [{ variable: 'OPENAI_API_KEY' }, { variable: 'XAI_API_KEY' }]);
});

t.test('nobody is paid at an address of another family, or at a misspelt one', async (t) => {
  for (const [name, address, fault] of [
    ['EVM', SOLANA, /PAY_TO_EVM is not an EVM address/],
    ['SOLANA', EVM, /PAY_TO_SOLANA is not a Solana address/],
    ['EVM', EVM.replace('aAe', 'aae'), /PAY_TO_EVM is misspelt/],
  ] as const) {
    t.throws(() => readConfig({ ...enough, [`TURNPIKE_PAY_TO_${name}`]: address }), { message: fault });
  }
  for (const address of [EVM, EVM.toLowerCase(), `0x${EVM.slice(2).toUpperCase()}`]) {
    t.equal(readConfig({ ...enough, TURNPIKE_PAY_TO_EVM: ` ${address} ` }).live?.payTo.evm, address);
  }
  const tempo = { TURNPIKE_TEMPO_RPC_URL: 'https://tempo.example', TURNPIKE_TEMPO_CURRENCY: EVM };
  t.throws(
    () =>
      readConfig({ ...enough, ...tempo, TURNPIKE_PAY_TO_EVM: EVM, TURNPIKE_TEMPO_RECIPIENT: EVM.replace('B', 'b') }),
    { message: /TEMPO_RECIPIENT is misspelt/ },
  );
});

t.test('nobody is paid at the address of a token, or at the one that is nobody’s', async (t) => {
  const networks = [...loadSound(catalogueDirectory).networks.values()];
  const tokenOn = (id: string) => networks.find((network) => network.id === id)?.live.asset.address ?? '';
  for (const [name, address, fault] of [
    ['EVM', tokenOn('chain-e'), 'TURNPIKE_PAY_TO_EVM is the address of the token USDT0 itself (chain-e)'],
    ['EVM', tokenOn('chain-e').toLowerCase(), 'TURNPIKE_PAY_TO_EVM is the address of the token USDT0 itself (chain-e)'],
    ['CHAIN_C', tokenOn('chain-c'), 'TURNPIKE_PAY_TO_CHAIN_C is the address of the token USDC itself (chain-c)'],
    ['SOLANA', tokenOn('chain-a'), 'TURNPIKE_PAY_TO_SOLANA is the address of the token USDC itself (chain-a)'],
    ['EVM', `0x${'0'.repeat(40)}`, "TURNPIKE_PAY_TO_EVM is nobody's address"],
    ['SOLANA', '1'.repeat(32), "TURNPIKE_PAY_TO_SOLANA is nobody's address"],
  ] as const) {
    const { live } = readConfig({ ...enough, [`TURNPIKE_PAY_TO_${name}`]: address });
    if (!live) throw new Error('the configuration is not live');
    const problem: unknown = await openLive(live, networks).catch((error: unknown) => error);
    const told = `${fault}, where nobody has what is paid: give that of an account of yours`;
    t.same(problem instanceof ConfigProblem && problem.problems, [told], `${name} ${address}`);
  }
  const tempo = { TURNPIKE_TEMPO_RPC_URL: 'https://tempo.example', TURNPIKE_TEMPO_CURRENCY: EVM };
  for (const [TURNPIKE_TEMPO_RECIPIENT, whose] of [
    [EVM.toLowerCase(), 'the address of TURNPIKE_TEMPO_CURRENCY itself'],
    [`0x${'0'.repeat(40)}`, "nobody's address"],
  ]) {
    t.throws(() => readConfig({ ...enough, ...tempo, TURNPIKE_PAY_TO_EVM: EVM, TURNPIKE_TEMPO_RECIPIENT }), {
      message: `TURNPIKE_TEMPO_RECIPIENT is ${whose}, where nobody has what is paid: give that of an account of yours`,
    });
  }
});

t.test('a variable for a network that does not exist, or with an address of another family, is told', async (t) => {
  const { live } = readConfig({
    ...enough,
    TURNPIKE_PAY_TO_EVM: EVM,
    TURNPIKE_PAY_TO_CHAINC: EVM,
    TURNPIKE_PAY_TO_CHAIN_A: EVM,
    TURNPIKE_PAY_TO_CHAIN_C: SOLANA,
    TURNPIKE_PAY_TO_CHAIN_E: EVM,
    TURNPIKE_RPC_URL_BASE: 'https://base.example',
  });
  if (!live) throw new Error('the configuration is not live');
  const networks = [...loadSound(catalogueDirectory).networks.values()];
  const problem = await openLive(live, networks).then(
    () => t.fail('it was taken'),
    (error: unknown) => error,
  );
  if (!(problem instanceof ConfigProblem)) throw problem;
  t.match(problem.problems, [
    /^TURNPIKE_PAY_TO_CHAINC is for no network .*TURNPIKE_PAY_TO_CHAIN_C,/,
    /^TURNPIKE_RPC_URL_BASE is for no network/,
    /^TURNPIKE_PAY_TO_CHAIN_A is not a Solana address/,
    /^TURNPIKE_PAY_TO_CHAIN_C is not an EVM address/,
  ]);
  t.equal(problem.problems.length, 4);
});

t.test('a configuration is refused with every problem at once', (t) => {
  try {
    readConfig({
      TURNPIKE_MODE: 'live',
      PORT: 'many',
      LOG_LEVEL: 'loud',
      TURNPIKE_DRAIN_SECONDS: 'soon',
      CDP_API_KEY_ID: 'x',
      TURNPIKE_TEMPO_CURRENCY: 'gold',
    });
    t.fail('it was taken');
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error;
    const text = error.problems.join('\n');
    t.match(text, 'PORT is many: it takes a number');
    t.match(text, 'TURNPIKE_DRAIN_SECONDS is soon: it takes a number of seconds');
    for (const name of ['PORT', 'LOG_LEVEL', 'CDP_API_KEY_SECRET', 'TURNPIKE_TEMPO_CURRENCY', 'TURNPIKE_PUBLIC_URL']) {
      t.match(text, new RegExp(name));
    }
  }
  t.end();
});
