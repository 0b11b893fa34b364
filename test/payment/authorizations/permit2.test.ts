/** A Permit2 permit of the scheme `upto`: what is refused before any work, and what the chain is asked about it. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex, pad, parseAbi, toHex } from 'viem';
import { findPermit2Settlement } from '../../../src/payment/authorizations/permit2.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { request, sendProof, signProof, signUpto } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { mine } from '../../mine.ts';
import { changed, decoded, offersOf, refusesBeforeWork } from './proofs.ts';

/** The gateway's clock, in milliseconds; undefined: the system's. */
let clock: number | undefined;
// The contracts come from the Tempo chain.
const gateway = await startGateway({ networks: ['chain-c'], tempo: true, now: () => clock ?? Date.now() });
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
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** The endpoint's deadline, and what a permit has to last longer. */
const [DEADLINE_SECONDS, MARGIN_SECONDS] = [50, 15];
let made = 0;
/** A request that no other test makes. */
const fresh = () => {
  made += 1;
  return request(gateway, '/llm/vendor5-k3', { prompt: `Why does fog scatter light? (${made})`, max_tokens: 300 });
};

t.test('a permit does not pay by the scheme exact, nor an EIP-3009 authorization by upto', async (t) => {
  const call = fresh();
  const offers = await offersOf(call);
  const payments = { exact: await signUpto(gateway, 'chain-c', call), upto: await signProof(gateway, 'chain-c', call) };
  for (const [scheme, payment] of Object.entries(payments)) {
    const accepted = offers.find((offer) => offer.scheme === scheme);
    const proof = changed(payment, (signed) => Object.assign(signed, { accepted }));
    const [type, detail] = [/verification-failed$/, /the scheme upto is paid with a Permit2 permit, exact with/];
    await refusesBeforeWork(t, gateway, 'chain-c', { call, proof, type, detail });
  }
});

t.test('a permit has to outlive the work, for what it pays is known only after it', async (t) => {
  const call = fresh();
  const proof = await signUpto(gateway, 'chain-c', call);
  const deadline = Number(decoded(proof).payload.permit2Authorization?.deadline);
  const lastMoment = (deadline - DEADLINE_SECONDS - MARGIN_SECONDS) * 1000;
  clock = lastMoment + 1;
  const [type, detail] = [/payment-expired$/, /the payment ends before the work may be done/];
  await refusesBeforeWork(t, gateway, 'chain-c', { call, proof, type, detail });
  clock = lastMoment;
  t.equal((await sendProof(call, proof)).status, 200);
});

t.test('a permit whose nonce is spelt otherwise is the same payment', async (t) => {
  const call = fresh();
  const nonceOf = (proof: Record<string, string>) => decoded(proof).payload.permit2Authorization?.nonce ?? '';
  let proof = await signUpto(gateway, 'chain-c', call);
  // The largest of the client's random nonces fill all digits and leave no room for a zero before them.
  while (nonceOf(proof).length > 77) proof = await signUpto(gateway, 'chain-c', call);
  t.equal((await sendProof(call, proof)).status, 200);
  const spelt = changed(proof, ({ payload }) => {
    Object.assign(payload.permit2Authorization ?? {}, { nonce: `0${nonceOf(proof)}` });
  });
  const calls = await gateway.calls();
  const answer = await sendProof(call, spelt);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('idempotency-replayed'), 'true');
  t.same(await gateway.calls(), calls);
});

t.test(
  'a settlement that nobody saw is found over more than a thousand blocks, by a clock that is ahead',
  async (t) => {
    const call = fresh();
    const proof = await signUpto(gateway, 'chain-c', call);
    clock = Date.now() + 30_000;
    await gateway.fault({ settlement: 'chain-c', fault: '500' });
    t.equal((await sendProof(call, proof)).status, 409);
    const earned = await gateway.earned('chain-c');
    const payment = decoded(proof);
    const settled = await gateway.sandbox.facilitators[0]?.facilitator.settle(payment, {
      ...payment.accepted,
      amount: '7',
    });
    t.match(settled, { state: 'settled' });
    await mine(rpc, 1_100, 0);
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('turnpike-charged'), '0.000007');
    t.equal((await gateway.earned('chain-c')) - earned, 7n);
  },
);

/**
 * A contract that is called like the one that settles, with the call of the token behind the arguments: it makes that
 * call, and leaves the permit alone.
 */
const IMPOSTOR: Hex = `0x${[
  '6064 610124 6000 37', // copy 100 bytes behind the selector and nine words
  '6000 6000 6064 6000 6000 600435 5a f1 00', // call the token, which the first word names
]
  .join('')
  .replaceAll(' ', '')}`;

t.test('a void permit is not paid by a call that only looks like its settlement', async (t) => {
  const impostor: Hex = '0x00000000000000000000000000000000001d1e00';
  await rpc('anvil_setCode', [impostor, IMPOSTOR]);
  const nonce = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const deadline = BigInt(Math.floor(Date.now() / 1000) + 60);
  const invalidate = encodeFunctionData({
    abi: parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']),
    args: [nonce >> 8n, 1n << (nonce & 0xffn)],
  });
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [impostor, 1n] });
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [payer, payTo, 1n] });
  // Token, permitted amount, nonce, deadline, amount, owner, to, facilitator, valid after.
  const words = [asset as Hex, toHex(1n), toHex(nonce), toHex(deadline), toHex(1n), payer, payTo, payer, toHex(0n)];
  const settle = ['0xff11e7b4' as Hex, ...words.map((word) => pad(word)), transfer]
    .map((part) => part.slice(2))
    .join('');
  const earned = await gateway.earned('chain-c');
  await actAs(rpc, payer, [
    { to: PERMIT2, data: invalidate },
    { to: asset, data: approve },
    { to: impostor, data: `0x${settle}` },
  ]);
  t.equal((await gateway.earned('chain-c')) - earned, 1n, 'the token moved');
  const query = { rpcUrl, asset, payer, payTo, nonce: nonce.toString(), deadline: Number(deadline) };
  t.match(await findPermit2Settlement(query), { state: 'unknown', reason: /no transfer of it to us/ });
});
