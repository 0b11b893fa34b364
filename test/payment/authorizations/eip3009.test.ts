/** An EIP-3009 authorization: what is refused before any work, and what the chain is asked about it. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex, pad } from 'viem';
import { findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { mine } from '../../mine.ts';
import { changed, decoded, offersOf, refusesBeforeWork } from './proofs.ts';

/** The gateway's clock, in milliseconds; undefined: the system's. */
let clock: number | undefined;
const gateway = await startGateway({ networks: ['chain-c'], now: () => clock ?? Date.now() });
t.teardown(gateway.stop);
t.afterEach(() => {
  clock = undefined;
});

const access = gateway.state.evm['chain-c'];
const payTo = gateway.state.payTo['chain-c'] as Hex;
if (!access) throw new Error('chain-c was not started');
const { rpcUrl, asset } = access;
const rpc = createRpc(rpcUrl);
const payer = gateway.sandbox.payer('chain-c') as Hex;

const PRICE = 60_000n;
/** The endpoint's deadline, and what an authorization has to last longer. */
const [DEADLINE_SECONDS, MARGIN_SECONDS] = [120, 15];
let made = 0;
/** A request that no other test makes. */
const fresh = (options: object = {}) => {
  made += 1;
  return request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${made}`, ...options });
};

t.test('who signs for more than the price is refused, and keeps the money', async (t) => {
  const call = fresh();
  const [offer] = await offersOf(call);
  const dearer = await signProof(gateway, 'chain-c', fresh({ resolution: '2k' }));
  const proof = changed(dearer, (payment) => Object.assign(payment, { accepted: offer }));
  const [type, detail] = [/verification-failed$/, /the payment is for 100000, the price is 60000/];
  await refusesBeforeWork(t, gateway, 'chain-c', { call, proof, type, detail });
});

t.test('an authorization that is not valid yet is refused, with the name of the field', async (t) => {
  const call = fresh();
  const tomorrow = String(Math.floor(Date.now() / 1000) + 86_400);
  const proof = changed(await signProof(gateway, 'chain-c', call), ({ payload }) =>
    Object.assign(payload.authorization ?? {}, { validAfter: tomorrow }),
  );
  const [type, detail] = [/verification-failed$/, /not valid yet: see validAfter/];
  await refusesBeforeWork(t, gateway, 'chain-c', { call, proof, type, detail });
});

for (const { name, late, status } of [
  { name: 'just outlives the work is settled after it', late: 0, status: 500 },
  { name: 'ends a moment sooner is refused, for nobody agreed to pay before', late: 1, status: 402 },
]) {
  t.test(`an authorization that ${name}`, async (t) => {
    const call = fresh();
    const proof = await signProof(gateway, 'chain-c', call);
    const validBefore = Number(decoded(proof).payload.authorization?.validBefore);
    clock = (validBefore - DEADLINE_SECONDS - MARGIN_SECONDS) * 1000 + late;
    t.teardown(() => {
      clock = undefined;
    });
    const earned = await gateway.earned('chain-c');
    if (status === 500) await gateway.fault({ upstream: 'predictions', fault: '500' });
    const answer = await sendProof(call, proof);
    t.equal(answer.status, status);
    if (status === 402) t.match(await answer.json(), { type: /payment-expired$/ });
    t.equal(await gateway.earned('chain-c'), earned, 'nothing is charged');
  });
}

t.test('a kept answer is sold by what is left of its authorization, too short as that is for new work', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  t.equal((await sendProof(call, proof)).status, 409);
  clock = (Number(decoded(proof).payload.authorization?.validBefore) - DEADLINE_SECONDS) * 1000;
  t.teardown(() => {
    clock = undefined;
  });
  t.equal((await sendProof(call, proof)).status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
});

t.test('an authorization in other letters is the same payment', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  t.equal((await sendProof(call, proof)).status, 200);
  const spelt = changed(proof, ({ payload }) => {
    const { nonce = '', from = '' } = payload.authorization ?? {};
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;
    Object.assign(payload.authorization ?? {}, { nonce: upper(nonce), from: upper(from) });
  });
  const answer = await sendProof(call, spelt);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('idempotency-replayed'), 'true');
});

t.test(
  'a settlement that nobody saw is found over more than a thousand blocks, by a clock that is ahead',
  async (t) => {
    const call = fresh();
    const proof = await signProof(gateway, 'chain-c', call);
    clock = Date.now() + 30_000;
    await gateway.fault({ settlement: 'chain-c', fault: '500' });
    t.equal((await sendProof(call, proof)).status, 409);
    const [calls, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
    const payment = decoded(proof);
    const settled = await gateway.sandbox.facilitators[0]?.facilitator.settle(payment, payment.accepted);
    t.match(settled, { state: 'settled' });
    await mine(rpc, 1_100, 0);
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 200);
    t.equal((await gateway.calls()).upstreamCalls, calls.upstreamCalls, 'the answer was kept');
    t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  },
);

const AUTHORIZATION_USED = '98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
/**
 * A token that marks authorizations as used and moves nothing, while another token moves in the same transaction. Its
 * calldata: payer, nonce, the other token's address, a call of that. It answers 1 to everything, and so says of any
 * authorization that it was used.
 */
const IDLE_TOKEN: Hex = `0x${[
  `602035 600035 7f${AUTHORIZATION_USED} 6000 6000 a3`, // log AuthorizationUsed(payer, nonce)
  '6064 6060 6000 37', // copy the call of the other token: 100 bytes behind three words
  '6000 6000 6064 6000 6000 604035 5a f1', // make it
  '6001 6000 52 6020 6000 f3', // answer 1
]
  .join('')
  .replaceAll(' ', '')}`;

t.test("another token's transfer in the transaction that used the authorization is not the payment", async (t) => {
  const token: Hex = '0x00000000000000000000000000000000001d1e00';
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  await rpc('anvil_setCode', [token, IDLE_TOKEN]);
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [token, PRICE] });
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [payer, payTo, PRICE] });
  const use = [pad(payer), nonce, pad(asset as Hex), transfer].map((part) => part.slice(2)).join('');
  const earned = await gateway.earned('chain-c');
  await actAs(rpc, payer, [
    { to: asset, data: approve },
    { to: token, data: `0x${use}` },
  ]);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE, 'the other token moved');
  const validBefore = Math.floor(Date.now() / 1000) + 60;
  const query = { rpcUrl, asset: token, payer, payTo, value: `${PRICE}`, nonce, validBefore };
  t.match(await findEip3009Settlement(query), { state: 'unknown', reason: /no transfer of the payer/ });
});
