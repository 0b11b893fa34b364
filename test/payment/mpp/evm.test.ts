import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import t from 'tap';
import { type Hex, toHex } from 'viem';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import type { Network } from '../../../src/catalogue/types.ts';
import { createLog } from '../../../src/log.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { createPayableNetworks } from '../../../src/payment/networks.ts';
import { Refusal } from '../../../src/payment/refusal.ts';
import { openMpp } from '../../../src/rails/mpp/open.ts';
import { openMppRail } from '../../../src/rails/mpp/rail.ts';
import { startEvmChain } from '../../../src/sandbox/chains/evm.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { endingPauses } from '../../pauses.ts';
import { noExposure } from '../exposure/none.ts';
import { answerOf, challengesOf, decode, encode, parametersOf, quoteOf, requestOf, secret } from './credentials.ts';
import { startGateway } from './gateway.ts';
import { mppRoute } from './route.ts';

const PRICE = 50_000n;
const caip2 = 'eip155:84532';
const chainId = 84_532;
const asset = {
  symbol: 'USDC',
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  decimals: 6,
  name: 'USDC',
  version: '2',
};
const kind = { x402Version: 2, scheme: 'exact' };
const path = '/mpp/a';
const headers = { 'content-type': 'application/json' };
const post = { method: 'POST', headers, body: '{"prompt":"fog"}' };
const [payer, settler] = [newEvmWallet(), newEvmWallet()];
const chain = await startEvmChain({ id: 'chain-c', caip2, asset, payer: payer.address, facilitator: settler.address });
t.teardown(chain.stop);

const facilitatorAt = (rpcUrl: string) =>
  localFacilitator({
    evm: [{ caip2, chainId, rpcUrl, nativeValue: 0n, privateKey: settler.privateKey }],
    solana: [],
  });

type Tap = Parameters<typeof startGateway>[0];

/** A gateway that is paid into an account of its own, and the rail it uses. */
async function gateway(t: Tap, { rpcUrl = chain.rpcUrl, deadlineMs = 1_000, exposure = noExposure } = {}) {
  const payTo = newEvmWallet().address;
  const facilitator = facilitatorAt(rpcUrl);
  t.teardown(() => facilitator.close());
  const rail = openMppRail({
    exposure,
    secrets: [secret],
    realm: '127.0.0.1',
    evm: [{ network: 'chain-c', chainId, asset, payTo, rpcUrl: chain.rpcUrl, facilitator }],
  });
  const started = await startGateway(t, rail, [mppRoute(path, '0.05', deadlineMs)]);
  return { ...started, rail, payTo, url: `${started.url}${path}`, earned: () => chain.balance(payTo) };
}

/** mppx's client, unmodified. */
const walletOf = (account: LocalAccount) =>
  Mppx.create({
    polyfill: false,
    methods: [evm({ account, authorization: { name: asset.name, version: asset.version }, decimals: asset.decimals })],
  });
const wallet = walletOf(privateKeyToAccount(payer.privateKey));
const credentialFor = async (url: string) => wallet.createCredential(await fetch(url, post));
const send = (url: string, authorization: string) => fetch(url, { ...post, headers: { ...headers, authorization } });
const problemOf = async (response: Response): Promise<string> =>
  String(JSON.parse(await response.text()).type).replace(/^.*\//, '');

t.test('an authorization is settled once, after the work, however long the work may take', async (t) => {
  const { url, seen, earned } = await gateway(t, { deadlineMs: 600_000 });
  const before = await chain.balance(payer.address);
  const response = await wallet.fetch(url, post);
  t.equal(response.status, 200);
  t.match(Receipt.fromResponse(response), { method: 'evm', status: 'success', reference: /^0x[0-9a-f]{64}$/ });
  t.equal(response.headers.get('cache-control'), 'private');
  t.same(seen.settleUpfront, [false]);
  t.equal(await earned(), PRICE);
  t.equal(before - (await chain.balance(payer.address)), PRICE);
});

t.test(
  'a challenge of an instance that did not know of losses yet is not settled first by one that does',
  async (t) => {
    let knows = false;
    const exposure = { ...noExposure, upfront: () => (knows ? ('loss' as const) : undefined) };
    const { url, seen, earned } = await gateway(t, { exposure });
    const before = await credentialFor(url);
    knows = true;
    const refused = await send(url, before);
    t.equal(refused.status, 402);
    t.equal(await problemOf(refused.clone()), 'payment-expired');
    t.equal(await earned(), 0n);
    t.equal((await send(url, await wallet.createCredential(refused))).status, 200, 'the fresh challenge is paid');
    t.same(seen.settleUpfront, [true]);
  },
);

t.test('ten requests with one credential buy one call and get one answer', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const credential = await credentialFor(url);
  const responses = await Promise.all(Array.from({ length: 10 }, () => send(url, credential)));
  t.same(
    responses.map(({ status }) => status),
    Array(10).fill(200),
  );
  t.equal(new Set(responses.map(({ headers }) => headers.get('payment-receipt'))).size, 1);
  t.equal(seen.upstreamCalls, 1);
  t.equal(await earned(), PRICE);
});

t.test('charges nothing when the upstream fails, and takes the same credential again', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const credential = await credentialFor(url);
  seen.upstreamFails = true;
  t.equal((await send(url, credential)).status, 500);
  t.equal(await earned(), 0n);
  seen.upstreamFails = false;
  t.equal((await send(url, credential)).status, 200);
  t.equal(await earned(), PRICE);
});

t.test('an authorization pays the challenge it was signed for, and no other', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const { payload } = decode((await credentialFor(url)).slice(8));
  const second = parametersOf((await fetch(url, post)).headers.get('www-authenticate') ?? '');
  const response = await send(url, `Payment ${encode({ challenge: second, payload })}`);
  t.equal(response.status, 402);
  t.equal(await problemOf(response), 'verification-failed');
  t.equal(seen.upstreamCalls, 0);
  t.equal(await earned(), 0n);
});

t.test('an authorization that says or signs something else is refused', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const { challenge, payload } = decode((await credentialFor(url)).slice(8));
  const changes: Record<string, [changed: object, problem: string]> = {
    'less money': [{ value: '1' }, 'payment-insufficient'],
    'more money': [{ value: '90000' }, 'verification-failed'],
    'another recipient': [{ to: payer.address }, 'verification-failed'],
    'another payer': [{ from: newEvmWallet().address }, 'verification-failed'],
    'another nonce': [{ nonce: toHex(1, { size: 32 }) }, 'verification-failed'],
    'a longer life': [{ validBefore: '9999999999' }, 'verification-failed'],
    'a past life': [{ validBefore: '1' }, 'payment-expired'],
    'another signature': [{ signature: `0x${'1'.repeat(130)}` as Hex }, 'verification-failed'],
    'no address': [{ to: 'me' }, 'invalid-payload'],
    'another type': [{ type: 'permit2' }, 'invalid-payload'],
  };
  for (const [name, [changed, problem]] of Object.entries(changes)) {
    const response = await send(url, `Payment ${encode({ challenge, payload: { ...payload, ...changed } })}`);
    t.equal(response.status, 402, name);
    t.equal(await problemOf(response), problem, name);
  }
  t.equal(seen.upstreamCalls, 0);
  t.equal(await earned(), 0n);
});

t.test('a payer without money is refused before any work', async (t) => {
  const { url, seen } = await gateway(t);
  const response = await walletOf(privateKeyToAccount(newEvmWallet().privateKey)).fetch(url, post);
  t.equal(response.status, 402);
  t.equal(seen.upstreamCalls, 0);
});

/** Reads and verifies a credential as the gateway does. */
async function verified(rail: ReturnType<typeof openMppRail>, authorization: string) {
  const quote = quoteOf(requestOf(post.body, { headers: { authorization } }));
  const proof = rail.http.read(quote.request);
  if (!proof) throw new Error('the credential was not read');
  return { quote, payment: await rail.verify(proof, quote) };
}

t.test('refuses an authorization of which too little is left: it settles after the work, or not at all', async (t) => {
  let now = Date.now();
  const facilitator = facilitatorAt(chain.rpcUrl);
  t.teardown(() => facilitator.close());
  const options = {
    network: 'chain-c',
    chainId,
    asset,
    payTo: newEvmWallet().address,
    rpcUrl: chain.rpcUrl,
    facilitator,
  };
  const rail = openMppRail({
    exposure: noExposure,
    secrets: [secret],
    realm: '127.0.0.1',
    evm: [options],
    now: () => now,
  });
  const { url } = await startGateway(t, rail, [mppRoute(path)]);
  const authorization = await credentialFor(`${url}${path}`);
  t.equal((await verified(rail, authorization)).payment.upfront, undefined);
  now += 350_000;
  await t.rejects(
    verified(rail, authorization),
    new Refusal('payment-expired', 'the payment ends before the work may be done: sign one for a fresh challenge'),
  );
});

t.test('the chain tells what became of a payment whose settlement had no answer', async (t) => {
  const proxy = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const text = await answer.text();
    if (body.includes('eth_sendRawTransaction')) return response.destroy();
    response.setHeader('content-type', 'application/json').end(text);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const { url, rail, earned } = await gateway(t, {
    rpcUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
  const authorization = await credentialFor(url);
  const { quote, payment } = await verified(rail, authorization);
  t.notMatch(payment.recoveryQuery, decode(authorization.slice(8)).payload.signature, 'no signature is kept');
  t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown' });
  t.match(await payment.settle(quote.amount), { state: 'unknown' });
  let found = await rail.recover(payment.recoveryQuery);
  // The block with the transaction may be a moment away.
  while (found.state === 'unknown') found = await rail.recover(payment.recoveryQuery);
  t.match(found, { state: 'settled', amount: 50_000n, transaction: /^0x[0-9a-f]{64}$/ });
  t.equal(await earned(), PRICE);
});

t.test('both ways to pay stand side by side, and a credential for one is no credential for the other', async (t) => {
  const facilitator = facilitatorAt(chain.rpcUrl);
  t.teardown(() => facilitator.close());
  const payTo = newEvmWallet().address;
  const tempo = { rpcUrl: 'http://127.0.0.1:9', chainId: 42_431, currency: asset.address, recipient: payTo };
  const rail = openMppRail({
    exposure: noExposure,
    secrets: [secret],
    realm: '127.0.0.1',
    tempo,
    evm: [{ network: 'chain-c', chainId, asset, payTo, rpcUrl: chain.rpcUrl, facilitator }],
  });
  const { url, seen } = await startGateway(t, rail, [mppRoute(path)]);
  t.equal((await wallet.fetch(`${url}${path}`, post)).status, 200, 'the client picks what it can pay');
  const [first = ''] = challengesOf(answerOf(rail, quoteOf(requestOf(post.body))));
  const { payload } = decode((await credentialFor(`${url}${path}`)).slice(8));
  const swapped = { ...parametersOf(first), method: 'evm' };
  const response = await send(`${url}${path}`, `Payment ${encode({ challenge: swapped, payload })}`);
  t.equal(await problemOf(response), 'invalid-challenge');
  t.equal(seen.upstreamCalls, 1);
});

t.test('what a payment was for stays so, whatever network and address are charged by now', async (t) => {
  const { rail, url, earned } = await gateway(t);
  const call = requestOf(post.body, { headers: { authorization: await credentialFor(url) } });
  const quote = quoteOf(call);
  const credential = rail.http.read(call);
  if (!credential) throw new Error('the credential was not read');
  const payment = await rail.verify(credential, quote);
  t.match(await payment.settle(quote.amount), { state: 'settled' });
  t.equal(await earned(), PRICE);

  const elsewhere = { id: 'chain-e', caip2: 'eip155:84533', asset };
  const other = await startEvmChain({ ...elsewhere, payer: payer.address, facilitator: settler.address });
  t.teardown(other.stop);
  const rpc = createRpc(other.rpcUrl);
  await rpc('evm_increaseTime', [3_600]);
  await rpc('evm_mine', []);
  const facilitator = facilitatorAt(chain.rpcUrl);
  t.teardown(() => facilitator.close());
  const charging = (network: string, id: number, rpcUrl: string) => {
    const evm = { network, chainId: id, asset, payTo: newEvmWallet().address, rpcUrl, facilitator };
    return openMppRail({ exposure: noExposure, secrets: [secret], realm: '127.0.0.1', evm: [evm] });
  };
  const { recoveryQuery } = payment;
  t.match(await charging('chain-c', chainId, chain.rpcUrl).recover(recoveryQuery), { state: 'settled', amount: PRICE });
  const abroad = charging('chain-e', 84_533, other.rpcUrl);
  t.match(await abroad.recover(recoveryQuery), { state: 'unknown' }, 'another chain has nothing to say of it');
  await t.rejects(abroad.confirmations(recoveryQuery, `0x${'1'.repeat(64)}`));
});

t.test('the first network that can be paid is charged, as facilitators come and go', async (t) => {
  const inReach = new Set<string>();
  const networkOf = (id: string, chain: string): Network => {
    const binding = { caip2: chain, v1Name: undefined, rpcUrl: 'http://127.0.0.1:9', asset };
    return { id, family: 'evm', listedAs: id, live: binding, sandbox: binding, authorizationLastsMs: undefined };
  };
  const facilitator = { supported: async () => [...inReach].map((network) => ({ ...kind, network })) };
  const payable = createPayableNetworks(
    [networkOf('chain-c', caip2), networkOf('chain-e', 'eip155:84533')].map((network) => {
      return { network, mode: 'live', payTo: payer.address, rpcUrl: undefined } as const;
    }),
    [{ name: 'a facilitator', facilitator: facilitator as unknown as Facilitator }],
    createLog('silent'),
  );
  endingPauses(t);
  await payable.refresh();
  const rail = openMpp({
    config: { secrets: [secret], realm: undefined, tempo: undefined, refundSigner: undefined },
    options: { networks: ['chain-c', 'chain-e'] },
    networks: payable,
    exposure: noExposure,
    publicUrl: 'http://127.0.0.1',
    log: createLog('silent'),
    now: Date.now,
  } as unknown as Parameters<typeof openMpp>[0]);
  const charged = async (...reached: readonly string[]) => {
    inReach.clear();
    for (const each of reached) inReach.add(each);
    await payable.refresh();
    if (!rail) return 'nothing is sold';
    const { issued } = rail.challenge(quoteOf(requestOf(post.body)));
    return issued.map(({ request }) => decode(request).methodDetails.chainId);
  };
  t.same(await charged(), []);
  t.same(await charged('eip155:84533'), [84_533]);
  t.same(await charged('eip155:84533', caip2), [chainId]);
  t.same(await charged('eip155:84533'), [84_533]);
});

t.test('an authorization that was never used has failed for good once it has expired', async (t) => {
  const { url, rail } = await gateway(t);
  const { payment } = await verified(rail, await credentialFor(url));
  t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown' });
  const rpc = createRpc(chain.rpcUrl);
  await rpc('evm_increaseTime', [3_600]);
  await rpc('evm_mine', []);
  t.match(await rail.recover(payment.recoveryQuery), { state: 'refused' });
});
