import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { balances, facilitatorContract } from './contract.ts';
import { serve } from './front.ts';
import { baseSepolia, networks, solanaDevnet } from './networks.ts';
import { signV1, signV2 } from './payments.ts';

const chains = await startChains({ networks });
t.teardown(chains.stop);

t.test('a facilitator in this process', (t) => {
  facilitatorContract(t, chains, localFacilitator(chains.facilitatorOptions), 'refused');
  t.end();
});

const [evm] = chains.facilitatorOptions.evm;
if (!evm) throw new Error('no EVM network was started');

/** A way to the chain's node that passes everything on, and loses the answers to one method. */
async function losing(method: string): Promise<{ rpcUrl: string; stop(): void }> {
  const server = createServer((incoming, response) => {
    const pass = async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      const answer = await request(evm?.rpcUrl ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const text = await answer.body.text();
      if (body.includes(method)) incoming.socket.destroy();
      else response.setHeader('content-type', 'application/json').end(text);
    };
    pass().catch(() => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { rpcUrl: `http://127.0.0.1:${port}`, stop: () => server.close().closeAllConnections() };
}

t.test('a Solana node that takes connections and says nothing is given up', { timeout: 120_000 }, async (t) => {
  const silent = await serve(() => undefined);
  t.teardown(silent.stop);
  const solana = chains.facilitatorOptions.solana.map((network) => ({ ...network, rpcUrl: silent.url }));
  const facilitator = localFacilitator({ evm: [], solana, answerTimeoutMs: 100 });
  await t.rejects(facilitator.supported(), { message: /does not answer/ });
  t.same(await facilitator.accounts?.(10_000), new Map(), 'nor does it tell what the account has');
  const { payload, requirements } = await signV2(chains, solanaDevnet, { amount: '77' });
  await t.rejects(facilitator.verify(payload, requirements), FacilitatorUnreachable);
});

t.test('of a Solana node no more is read than any answer has, however it comes', async (t) => {
  const value = { blockhash: '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM', lastValidBlockHeight: 9 };
  const answer = JSON.stringify({ jsonrpc: '2.0', id: '1', result: { context: { slot: 1 }, value } });
  const ofLength = (bytes: number) => Buffer.from(answer.padEnd(bytes));
  const most = 1024 * 1024;
  let send = (_response: ServerResponse): void => undefined;
  const node = await serve((_request, response) => {
    response.setHeader('content-type', 'application/json');
    send(response);
  });
  t.teardown(node.stop);
  const solana = chains.facilitatorOptions.solana.map((network) => ({ ...network, rpcUrl: node.url }));
  const facilitator = localFacilitator({ evm: [], solana });
  send = (response) => response.end(ofLength(most));
  t.equal((await facilitator.supported()).length, 2);
  send = (response) => response.end(ofLength(most + 1));
  await t.rejects(facilitator.supported(), { message: /does not answer/ });
  send = (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(ofLength(most + 1)));
  await t.rejects(facilitator.supported(), { message: /does not answer/ }, 'nor of what is made of it');
});

for (const [version, sign] of [
  ['1', signV1],
  ['2', signV2],
] as const) {
  t.test(`a settlement whose answer is lost is unknown, and the chain knows it (version ${version})`, async (t) => {
    const way = await losing('eth_sendRawTransaction');
    t.teardown(way.stop);
    const facilitator = localFacilitator({ evm: [{ ...evm, rpcUrl: way.rpcUrl }], solana: [] });
    const before = await balances(chains, baseSepolia);
    const { payload, requirements } = await sign(chains, baseSepolia, { amount: '77' });
    const settlement = await facilitator.settle(payload, requirements);
    t.match(settlement, { state: 'unknown', reason: /./ });
    const { authorization } = payload.payload as { authorization: { nonce: string; validBefore: string } };
    const ask = () =>
      findEip3009Settlement({
        rpcUrl: evm.rpcUrl,
        asset: baseSepolia.sandbox.asset.address,
        payer: chains.wallets.evm.payer.address,
        payTo: chains.payTo[baseSepolia.id] ?? '',
        value: '77',
        nonce: authorization.nonce,
        validBefore: Number(authorization.validBefore),
      });
    let found = await ask();
    // The block with the transaction may be a moment away.
    while (found.state === 'unknown') found = await ask();
    t.match(found, { state: 'settled', amount: 77n, transaction: /^0x[0-9a-f]{64}$/ });
    t.same(await balances(chains, baseSepolia), { payer: before.payer - 77n, payTo: before.payTo + 77n });
    t.notMatch(JSON.stringify(settlement), String(payload.payload.signature));
  });

  t.test(`a settlement that is not confirmed in time is unknown (version ${version})`, async (t) => {
    const way = await losing('eth_getTransactionReceipt');
    t.teardown(way.stop);
    const options = { evm: [{ ...evm, rpcUrl: way.rpcUrl }], solana: [], confirmationTimeoutMs: 50 };
    const { payload, requirements } = await sign(chains, baseSepolia);
    t.match(await localFacilitator(options).settle(payload, requirements), { state: 'unknown', reason: /confirmed/ });
  });

  t.test(`a facilitator without gas refuses, and says so (version ${version})`, async (t) => {
    const { privateKey } = newEvmWallet();
    const facilitator = localFacilitator({ evm: [{ ...evm, privateKey }], solana: [] });
    const { payload, requirements } = await sign(chains, baseSepolia);
    t.match(await facilitator.settle(payload, requirements), { state: 'refused', reason: /no gas left/ });
  });
}

t.test('a chain out of reach is neither a good nor a bad payment', async (t) => {
  const lost = await startChains({ networks });
  const facilitator = localFacilitator(lost.facilitatorOptions);
  const signers = [signV1, signV2].flatMap((sign) => networks.slice(0, 2).map((network) => sign(lost, network)));
  const payments = await Promise.all(signers);
  await lost.stop();
  await t.rejects(facilitator.supported(), FacilitatorUnreachable);
  for (const { payload, requirements } of payments) {
    await t.rejects(facilitator.verify(payload, requirements), FacilitatorUnreachable);
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown', reason: /./ });
  }
});

t.test('a network whose chain is down drops out alone', async (t) => {
  const broken = { ...evm, caip2: 'eip155:1', chainId: 1, rpcUrl: 'http://127.0.0.1:9' };
  const wrong = { ...evm, caip2: 'eip155:5', chainId: 5 };
  const kinds = await localFacilitator({ evm: [broken, wrong, evm], solana: [] }).supported();
  t.same([...new Set(kinds.filter(({ x402Version }) => x402Version === 2).map(({ network }) => network))], [evm.caip2]);
});

t.test('a caller that stops waiting gets no verdict', async (t) => {
  const { payload, requirements } = await signV2(chains, baseSepolia);
  const facilitator = localFacilitator(chains.facilitatorOptions);
  await t.rejects(facilitator.verify(payload, requirements, AbortSignal.abort()), FacilitatorUnreachable);
});

t.test('a key that is none is told at once, and not repeated', async (t) => {
  const evmKey = { ...evm, privateKey: '0xabcdef' };
  t.throws(() => localFacilitator({ evm: [evmKey], solana: [] }), { message: /EVM.*64 hexadecimal/ });
  const [solana] = chains.facilitatorOptions.solana;
  if (!solana) throw new Error('no Solana was started');
  const solanaKey = { ...solana, secretKey: 'abcdef' };
  t.throws(() => localFacilitator({ evm: [], solana: [solanaKey] }), { message: /Solana.*base58/ });
});

for (const [version, sign] of [
  ['1', signV1],
  ['2', signV2],
] as const) {
  t.test(`a payer cannot make the facilitator pay a large fee (version ${version})`, async (t) => {
    const { payload, requirements } = await sign(chains, solanaDevnet);
    const wire = Buffer.from(String(payload.payload.transaction), 'base64');
    // The compute unit price: 9 bytes of data, which are 3 and a price that fits the lower half.
    const instruction = Array.from(wire.keys()).find(
      (at) => wire[at] === 9 && wire[at + 1] === 3 && wire.subarray(at + 6, at + 10).equals(Buffer.alloc(4)),
    );
    wire.writeBigUInt64LE(5_000_000_000n, (instruction ?? 0) + 2);
    const dear = { ...payload, payload: { transaction: wire.toString('base64') } };
    const facilitator = localFacilitator(chains.facilitatorOptions);
    t.match(await facilitator.verify(dear, requirements), { valid: false, reason: /lamports/ });
    t.match(await facilitator.settle(dear, requirements), { state: 'refused', reason: /lamports/ });
  });
}

t.end();
