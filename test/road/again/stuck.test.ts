/** What one failed write, one short authorization, one impatient reader may not do. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t from 'tap';
import type { Address } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { signLasting } from '../../evm-wallet.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';
import { TRANSFER_TYPES } from '../../transfer-types.ts';

let clock = Date.now;
const gateway = await startRelayedGateway({ networks: ['chain-c'], now: () => clock() });
t.teardown(gateway.stop);
const PRICE = 60_000n;
const access = gateway.state.evm['chain-c'] as NonNullable<(typeof gateway.state.evm)[string]>;
let made = 0;
const fresh = () => {
  made += 1;
  return request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
};

const upstreamAsked = async (before: number) => {
  while ((await gateway.calls()).upstreamCalls === before) await delay(2);
};

t.test('an authorization that may end before the work does is settled before it', async (t) => {
  const call = fresh();
  const unpaid = await fetch(call.url, call.init);
  const { accepts } = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
  const accepted = accepts.find((offer: { network: string }) => offer.network === access.caip2);
  const payer = privateKeyToAccount(access.privateKey);
  const message = {
    from: payer.address,
    to: accepted.payTo as Address,
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 15),
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await payer.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: access.chainId, verifyingContract: access.asset as Address },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const authorization = {
    ...message,
    value: `${message.value}`,
    validAfter: '0',
    validBefore: `${message.validBefore}`,
  };
  const payment = { x402Version: 2, accepted, payload: { signature, authorization } };
  const proof = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') };
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  const answer = sendProof(call, proof);
  await Promise.race([answer, upstreamAsked(before.upstreamCalls)]);
  // Twenty seconds go by while the upstream works.
  for (const [method, params] of [
    ['evm_increaseTime', [20]],
    ['evm_mine', []],
  ])
    await fetch(access.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  await answer;
  const worked = BigInt((await gateway.calls()).upstreamCalls - before.upstreamCalls);
  t.equal((await gateway.earned('chain-c')) - earned, worked * PRICE, 'where the upstream worked, it was paid for');
});

t.test('a payment whose answer could not be written is free again after its lease', async (t) => {
  const call = fresh();
  const proof = await signLasting(gateway, 'chain-c', call);
  const work = gateway.upstreams.gate.holdNext();
  const answer = sendProof(call, proof);
  await work.reached;
  const other = new Database(join(gateway.directory, 'turnpike.sqlite'));
  other.exec('PRAGMA busy_timeout = 5000');
  other.exec('BEGIN IMMEDIATE');
  work.release();
  const { status } = await answer;
  other.exec('ROLLBACK');
  t.equal(status, 503);
  // What waited for the file, such as a lease to be prolonged, is written before what is bought after it.
  const next = fresh();
  t.equal((await sendProof(next, await signProof(gateway, 'chain-c', next))).status, 200);
  const { until } = other.prepare('SELECT MAX(lease_until) AS until FROM payments').get() as { until: number };
  const later = Math.max(until, Date.now()) + 1_000;
  clock = () => later;
  const again = await sendProof(call, proof);
  t.equal(again.status, 200, `${again.status} ${(await again.text()).slice(0, 200)}`);
  other.close();
});

t.test('a request that takes its process along is tried three times, and never again', async (t) => {
  // Two instances by turns, whose clocks stand still meanwhile: what has died renews no lease.
  let time = Date.now();
  const clocks = [time, time];
  clock = () => clocks[0] ?? time;
  const urls = [gateway.url, await gateway.startAnother(() => clocks[1] ?? time)];
  const next = (attempt: number) => {
    clocks[attempt % 2] = time;
    time += 31_000;
    return { ...call, url: call.url.replace(gateway.url, urls[attempt % 2] ?? '') };
  };
  const call = request(gateway, '/mpp/image/family-e-2', { prompt: 'a lighthouse that nobody has seen twice' });
  const proof = await openMppPayer(gateway.state, 'chain-c').sign(await fetch(call.url, call.init));
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  await gateway.fault({ upstream: 'predictions', fault: 'timeout', count: 3 });
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const caller = new AbortController();
    const { upstreamCalls } = await gateway.calls();
    const init = { ...call.init, signal: caller.signal };
    const lost = sendProof({ ...next(attempt), init }, proof).catch(() => undefined);
    await upstreamAsked(upstreamCalls);
    caller.abort();
    await lost;
  }
  const last = next(4);
  for (const _ of ['at once', 'and later']) {
    const answer = await sendProof(last, proof);
    t.equal(answer.status, 402);
    t.match(await answer.json(), { detail: /tried 3 times and never charged: sign a new one/ });
  }
  t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 3);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('an unpaid call gets a price whatever it asks for', async (t) => {
  const call = request(gateway, '/v1/credits', { amount_usd: '5000' });
  t.equal((await fetch(call.url, call.init)).status, 402);
});
