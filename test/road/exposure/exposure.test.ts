/** Nobody works for nothing: payers who follow the protocol and take the money away. */
import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { type PaidCall, request, sendProof, signProof, signUpto } from '../../clients.ts';
import { openEvmWallet, signLasting } from '../../evm-wallet.ts';
import type { Gateway } from '../../gateway.ts';
import { TWO_FACED } from '../../hostile-wallets.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';
import { signMpp } from '../../settling-first.ts';

const PRICE = 60_000n;

const gateway = await startRelayedGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);
const { reader, another } = await openEvmWallet(gateway, 'chain-c');

let made = 0;
const fresh = (of: Gateway = gateway, prefix = '') => {
  made += 1;
  return request(of, `${prefix}/image/family-e-2`, { prompt: `a lighthouse, number ${made}` });
};
const addressOf = ({ state }: Gateway) => privateKeyToAddress(state.evm['chain-c']?.privateKey ?? '0x');
const upstreamCalls = async () => (await gateway.calls()).upstreamCalls;
const kindOf = async (answer: Response): Promise<string> =>
  String(((await answer.json()) as { type: unknown }).type).replace(/^.*\//, '');

t.test('a contract wallet that signs for simulations only gets no work, by either scheme', async (t) => {
  const payer = await another(1_000_000n);
  const address = addressOf(payer);
  await reader.request({ method: 'anvil_setCode' as never, params: [address, TWO_FACED] as never });
  const [before, earned] = [await upstreamCalls(), await gateway.earned('chain-c')];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const call = fresh(payer);
    t.equal((await sendProof(call, await signProof(payer, 'chain-c', call))).status, 402);
  }
  const metered = request(payer, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  t.equal((await sendProof(metered, await signUpto(payer, 'chain-c', metered).catch(() => ({})))).status, 402);
  t.equal(await upstreamCalls(), before, 'no upstream call');
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('one balance buys one thing at a time, however many authorizations are signed for it', async (t) => {
  const payer = await another(PRICE);
  const calls = Array.from({ length: 8 }, () => fresh(payer));
  const proofs = await Promise.all(calls.map((call) => signLasting(payer, 'chain-c', call)));
  const [before, earned] = [await upstreamCalls(), await gateway.earned('chain-c')];
  const first = calls[0] ?? fresh();
  const hold = gateway.upstreams.gate.holdNext();
  const answering = sendProof(first, proofs[0] ?? {});
  await hold.reached;
  const others = await Promise.all(calls.slice(1).map((call, at) => sendProof(call, proofs[at + 1] ?? {})));
  for (const answer of others) {
    t.equal(answer.status, 402);
    t.equal(await kindOf(answer), 'payment-insufficient');
  }
  hold.release();
  t.equal((await answering).status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  t.ok((await upstreamCalls()) - before <= 2, 'the work of one call');
});

t.test('one balance buys one thing at a time, whichever protocol the other is paid by', async (t) => {
  const x402 = (payer: Gateway, call: PaidCall) => signProof(payer, 'chain-c', call);
  const mpp = (payer: Gateway, call: PaidCall) => signMpp(payer, 'chain-c', call);
  const [byX402, byMpp] = [
    { name: 'x402', prefix: '', sign: x402 },
    { name: 'MPP', prefix: '/mpp', sign: mpp },
  ];
  for (const [first, second] of [
    [byX402, byMpp],
    [byMpp, byX402],
  ] as const) {
    const payer = await another(PRICE);
    const [one, other] = [fresh(payer, first.prefix), fresh(payer, second.prefix)];
    const [proof, otherProof] = [await first.sign(payer, one), await second.sign(payer, other)];
    const earned = await gateway.earned('chain-c');
    const hold = gateway.upstreams.gate.holdNext();
    const answering = sendProof(one, proof);
    await hold.reached;
    const before = await upstreamCalls();
    const refused = await sendProof(other, otherProof);
    t.equal(refused.status, 402, `${second.name} while ${first.name} is worked for`);
    t.equal(await kindOf(refused), 'payment-insufficient');
    t.equal(await upstreamCalls(), before, 'no work for it');
    hold.release();
    t.equal((await answering).status, 200);
    t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  }
});

t.test('a balance that covers several calls buys them at once', async (t) => {
  const payer = await another(3n * PRICE);
  const calls = Array.from({ length: 3 }, () => fresh(payer));
  const proofs = await Promise.all(calls.map((call) => signProof(payer, 'chain-c', call)));
  const answers = await Promise.all(calls.map((call, at) => sendProof(call, proofs[at] ?? {})));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
});

t.test('who moves the money away twice while the provider works pays first from then on', async (t) => {
  const payer = await another(PRICE);
  const [wallet, sponsor] = [await openEvmWallet(payer, 'chain-c'), await openEvmWallet(gateway, 'chain-c')];
  for (let time = 0; time < 2; time += 1) {
    const call = fresh(payer);
    const proof = await signProof(payer, 'chain-c', call);
    const hold = gateway.upstreams.gate.holdNext();
    const answering = sendProof(call, proof);
    await hold.reached;
    await wallet.send(await wallet.sign({ value: PRICE, to: addressOf(gateway) }));
    hold.release();
    t.equal((await answering).status, 402, 'the result is withheld');
    await sponsor.send(await sponsor.sign({ value: PRICE, to: addressOf(payer) }));
  }
  const again = fresh(payer);
  const signed = await signProof(payer, 'chain-c', again);
  const earned = await gateway.earned('chain-c');
  const hold = gateway.upstreams.gate.holdNext();
  const paid = sendProof(again, signed);
  await hold.reached;
  t.equal((await gateway.earned('chain-c')) - earned, PRICE, 'the money is here before the work');
  hold.release();
  t.equal((await paid).status, 200);
});

t.test('who has paid for one call may not have many under way: what was paid is what is trusted', async (t) => {
  const payer = await another(40n * PRICE);
  const first = fresh(payer);
  t.equal((await sendProof(first, await signProof(payer, 'chain-c', first))).status, 200);
  const calls = Array.from({ length: 12 }, () => fresh(payer));
  const proofs = await Promise.all(calls.map((call) => signProof(payer, 'chain-c', call)));
  const earned = await gateway.earned('chain-c');
  const holds = calls.map(() => gateway.upstreams.gate.holdNext());
  const answering = calls.map((call, at) => sendProof(call, proofs[at] ?? {}));
  await Promise.all(holds.map(({ reached }) => reached));
  const settledFirst = ((await gateway.earned('chain-c')) - earned) / PRICE;
  t.equal(settledFirst, 3n, 'of twelve for 0.72 dollars, 0.06 for what it has paid and 0.50 besides settle after');
  for (const { release } of holds) release();
  for (const answer of await Promise.all(answering)) t.equal(answer.status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, 12n * PRICE);
});

t.test('what costs more than the policy trusts anybody with is offered only to settle first', async (t) => {
  const call = request(gateway, '/video/family-h-2.5', { prompt: 'waves', duration: 10, resolution: '720p' });
  const unpaid = await fetch(call.url, call.init);
  const { accepts } = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
  t.ok(accepts.length > 0);
  for (const offer of accepts) t.equal(offer.extra.paymentFlow, 'upfront', offer.network);
});
