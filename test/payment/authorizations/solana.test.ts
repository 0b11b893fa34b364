/** A Solana payment: what is refused before any work, when it is settled, and what the chain is asked about it. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createKeyPairSignerFromBytes,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
} from '@solana/kit';
import t, { type Test } from 'tap';
import { decodeBase58 } from '../../../src/on-chain/base58.ts';
import { findSolanaSettlement } from '../../../src/payment/authorizations/solana.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { readSolanaPayment } from '../../../src/payment/chains/solana-transaction.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { withDurableNonce } from '../../hostile-solana.ts';
import { json, serve } from '../facilitators/front.ts';
import { solanaDevnet } from '../facilitators/networks.ts';
import { signV2 } from '../facilitators/payments.ts';
import { changed, decoded, offersOf, refusesBeforeWork } from './proofs.ts';

const PRICE = 60_000n;

/** The catalogue with an endpoint that takes as long as a Solana payment leaves it, and one that takes a second longer. */
function catalogue(t: Test): string {
  const directory = join(t.testdir({}), 'catalogue');
  cpSync('catalogue', directory, { recursive: true });
  for (const seconds of [50, 51]) {
    const yaml = `summary: A picture in ${seconds} seconds
path: /image/within-${seconds}
networks: [chain-a]
price: { rule: fixed, amount: "0.06" }
deadline: ${seconds}s
request: { required: [prompt], properties: { prompt: { $ref: prompt } } }
result: { $ref: image-result }
example: { prompt: fog }
upstream: { via: predictions, model: family-e-2, input: { prompt: prompt }, result: image }
`;
    writeFileSync(join(directory, 'endpoints', 'image', `within-${seconds}.yaml`), yaml);
  }
  return directory;
}

/** Solana's clock, in milliseconds: it stands still until a test moves it on. */
let clock = Date.now();
const solanaNow = () => clock;
const gateway = await startGateway({ catalogue: catalogue(t), networks: ['chain-a'], solanaNow });
t.teardown(gateway.stop);

let made = 0;
/** A request that no other test makes. */
const fresh = (options: object = {}, path = '/image/family-e-2') => {
  made += 1;
  return request(gateway, path, { prompt: `a lighthouse, number ${made}`, ...options });
};

const wireOf = (proof: Record<string, string>) => Buffer.from(decoded(proof).payload.transaction ?? '', 'base64');
const withWire = (proof: Record<string, string>, wire: Uint8Array) =>
  changed(proof, ({ payload }) => Object.assign(payload, { transaction: Buffer.from(wire).toString('base64') }));

t.test(
  'a transaction is one payment, whatever stands in the place of the signature that is not there yet',
  async (t) => {
    const call = fresh();
    const proof = await signProof(gateway, 'chain-a', call);
    // Behind one byte of count: the fee payer's, which the facilitator writes over.
    const other = withWire(proof, wireOf(proof).fill(7, 1, 65));
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.equal((await sendProof(call, proof)).status, 500);
    const [type, detail] = [/invalid-challenge$/, /this authorization has been used/];
    await refusesBeforeWork(t, gateway, 'chain-a', { call, proof: other, type, detail });
    t.equal((await sendProof(call, proof)).status, 200);
  },
);

t.test('who signs for more than the price is refused, and keeps the money', async (t) => {
  const call = fresh();
  const [offer] = await offersOf(call);
  const dearer = await signProof(gateway, 'chain-a', fresh({ resolution: '2k' }));
  const proof = changed(dearer, (payment) => Object.assign(payment, { accepted: offer }));
  const [type, detail] = [/verification-failed$/, /the payment is for 100000, the price is 60000/];
  await refusesBeforeWork(t, gateway, 'chain-a', { call, proof, type, detail });
});

t.test('a transfer of another token is refused, with both names', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-a', call);
  const wire = wireOf(proof);
  const mint = wire.indexOf(decodeBase58(gateway.state.solana?.mint ?? ''));
  wire.fill(7, mint, mint + 32);
  const [type, detail] = [/verification-failed$/, new RegExp(`in \\w+, asked is ${gateway.state.solana?.mint}`)];
  await refusesBeforeWork(t, gateway, 'chain-a', { call, proof: withWire(proof, wire), type, detail });
});

t.test('two transfers in one transaction are no payment', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-a', call);
  const wire = wireOf(proof);
  const { messageBytes } = getTransactionDecoder().decode(wire);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (!('instructions' in message)) throw new Error('the message has no instructions');
  const instructions = message.instructions.flatMap((each) => (each.data?.[0] === 12 ? [each, each] : [each]));
  t.equal(instructions.length, message.instructions.length + 1, 'TransferChecked, twice');
  const doubled = getCompiledTransactionMessageEncoder().encode({ ...message, instructions });
  const signatures = wire.subarray(0, wire.length - messageBytes.length);
  const [type, detail] = [/malformed-credential$/, /with one TransferChecked/];
  const both = withWire(proof, Buffer.concat([signatures, Uint8Array.from(doubled)]));
  await refusesBeforeWork(t, gateway, 'chain-a', { call, proof: both, type, detail });
});

for (const { seconds, flow, charged } of [
  { seconds: 50, flow: undefined, charged: 0n },
  { seconds: 51, flow: 'upfront', charged: PRICE },
]) {
  const when = flow ? 'before' : 'after';
  t.test(`an endpoint with a deadline of ${seconds} s is paid ${when} its work, and says so`, async (t) => {
    const call = fresh({}, `/image/within-${seconds}`);
    const [offer] = await offersOf(call);
    t.match(offer, { maxTimeoutSeconds: 60 });
    t.equal((offer?.extra as { paymentFlow?: string } | undefined)?.paymentFlow, flow);
    const proof = await signProof(gateway, 'chain-a', call);
    const earned = await gateway.earned('chain-a');
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.equal((await sendProof(call, proof)).status, 500);
    t.equal((await gateway.earned('chain-a')) - earned, charged, 'charged for work that failed');
  });
}

for (const { path, when, age, detail } of [
  { path: '/image/within-50', when: 'ends before the work may be done', age: 8_000, detail: /ends before the work/ },
  { path: '/image/within-50', when: 'has ended', age: 61_000, detail: /blockhash .* has expired: sign a new one/ },
  {
    path: '/image/within-51',
    when: 'is about to end',
    age: 58_000,
    detail: /blockhash .* has expired: sign a new one/,
  },
])
  t.test(`a payment of ${path} whose blockhash ${when} is refused before it`, async (t) => {
    const call = fresh({}, path);
    const proof = await signProof(gateway, 'chain-a', call);
    clock += age;
    await refusesBeforeWork(t, gateway, 'chain-a', { call, proof, type: /payment-expired$/, detail });
  });

t.test('a blockhash may be as old as leaves the work its time, or settling where that comes first', async (t) => {
  for (const [path, age] of [
    ['/image/within-50', 5_000],
    ['/image/within-51', 50_000],
  ] as const) {
    const call = fresh({}, path);
    const proof = await signProof(gateway, 'chain-a', call);
    clock += age;
    t.equal((await sendProof(call, proof)).status, 200, path);
  }
});

t.test('a transaction with a durable nonce, which never ends by itself, is refused with the reason', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-a', call);
  const payer = await createKeyPairSignerFromBytes(decodeBase58(gateway.state.solana?.secretKey ?? ''));
  const durable = await withDurableNonce(decoded(proof).payload.transaction ?? '', payer);
  const sent = changed(proof, ({ payload }) => Object.assign(payload, { transaction: durable }));
  const [type, detail] = [/verification-failed$/, /durable nonce.*sign with a recent blockhash/];
  await refusesBeforeWork(t, gateway, 'chain-a', { call, proof: sent, type, detail });
});

t.test('a history that could not be read in full proves nothing', async (t) => {
  const clock = { ahead: 0 };
  const chains = await startChains({ networks: [solanaDevnet], now: () => Date.now() + clock.ahead });
  t.teardown(chains.stop);
  const payment = await signV2(chains, solanaDevnet);
  const settled = await signV2(chains, solanaDevnet, { amount: '678' });
  const facilitator = localFacilitator(chains.facilitatorOptions);
  t.match(await facilitator.settle(settled.payload, settled.requirements), { state: 'settled' });
  const { source, messageHash, blockhash } = readSolanaPayment(String(payment.payload.payload.transaction));
  const rpc = createRpc(chains.solana?.rpcUrl ?? '');
  const query = { source, messageHash, blockhash, since: Date.now() };
  clock.ahead = 120_000;

  /** What is found through a node that answers some methods always alike, and passes on all others. */
  const through = async (alike: Record<string, unknown>) => {
    const node = await serve(async (_request, response, body) => {
      const { method, params }: { method: string; params: unknown[] } = JSON.parse(body);
      const result = method in alike ? alike[method] : await rpc(method, params);
      json(response, 200, { jsonrpc: '2.0', id: 1, result });
    });
    t.teardown(node.stop);
    return findSolanaSettlement({ ...query, rpcUrl: node.url, now: Date.now() + clock.ahead });
  };

  const unread = { state: 'unknown', reason: /could not be read in full/ };
  t.match(await through({}), { state: 'refused', reason: /expired without reaching the chain/ });
  t.match(await through({ getTransaction: null }), unread, 'a transaction that the node has lost');
  const rows = await rpc('getSignaturesForAddress', [source]);
  const row = Array.isArray(rows) ? rows[0] : undefined;
  const getTransaction = await rpc('getTransaction', [row.signature, { encoding: 'base64' }]);
  const endless = { getSignaturesForAddress: Array(1_000).fill(row), getTransaction };
  const unsearched = { state: 'unknown', reason: /not searched in full/ };
  t.match(await through(endless), unsearched, 'more transactions than are looked at');
});
