/** One payment buys one call at its price, whatever a payer does with its authorization. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decodeFunctionData, type Hex } from 'viem';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { receiptOf, request, sendProof, signProof, signUpto } from '../../clients.ts';
import { openEvmWallet, tokenAbi } from '../../evm-wallet.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

const gateway = await startRelayedGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);

const PRICE = 60_000n;
const { caip2 } = gateway.state.evm['chain-c'] as NonNullable<(typeof gateway.state.evm)[string]>;
const payTo = gateway.state.payTo['chain-c'];
const { reader, sign, send } = await openEvmWallet(gateway, 'chain-c');

let made = 0;
const prompt = () => {
  made += 1;
  return `a lighthouse, number ${made}`;
};
const decode = (proof: Record<string, string>) =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const encode = (payment: unknown) => ({ 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') });

t.test('a permit that is sent with made-up authorizations beside it buys one call', async (t) => {
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  const payment = decode(await signUpto(gateway, 'chain-c', call));
  const used = `0x${randomBytes(32).toString('hex')}` as Hex;
  await send(await sign({ value: 1n, nonce: used }));
  const before = await gateway.calls();
  const decoys = Array.from({ length: 4 }, () => {
    const from = `0x${randomBytes(20).toString('hex')}`;
    const authorization = {
      from,
      to: payTo,
      value: payment.accepted.amount,
      validAfter: '0',
      validBefore: '4000000000',
      nonce: used,
    };
    return encode({ ...payment, payload: { ...payment.payload, authorization } });
  });
  const answers = await Promise.all(decoys.map((proof) => sendProof(call, proof)));
  const after = await gateway.calls();
  t.ok(after.upstreamCalls - before.upstreamCalls <= 1, `${after.upstreamCalls - before.upstreamCalls} upstream calls`);
  t.ok(answers.filter(({ status }) => status === 200).length <= 1, 'at most one result');
});

t.test('an authorization whose nonce the payer spends on less buys nothing', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: prompt() });
  const proof = await signProof(gateway, 'chain-c', call);
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  const first = await sendProof(call, proof);
  t.equal(first.status, 409);
  await send(await sign({ value: 1n, nonce: decode(proof).payload.authorization.nonce }));
  const second = await sendProof(call, proof);
  t.equal(second.status, 402, 'no result for a millionth of a dollar');
  t.match(await second.json(), { type: /verification-failed$/, detail: /another amount/ });
});

t.test('the same, while the upstream works', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: prompt() });
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, calls] = [await gateway.earned('chain-c'), await gateway.calls()];
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  await send(await sign({ value: 1n, nonce: decode(proof).payload.authorization.nonce }));
  work.release();
  const answer = await answered;
  const body = (await answer.json()) as { detail: string; image_url?: string };
  t.equal(answer.status, 402);
  t.match(body.detail, /not settled: the payer used the nonce for another amount/);
  t.equal(body.image_url, undefined, 'the result is withheld');
  t.equal((await gateway.earned('chain-c')) - earned, 1n);
  const after = await gateway.calls();
  t.equal(after.upstreamCalls - calls.upstreamCalls, 1);
  t.equal(after.settlementCount, calls.settlementCount);
});

t.test('one authorization shown to both protocols buys one call', async (t) => {
  const body = { prompt: prompt() };
  const overMpp = request(gateway, '/mpp/image/family-e-2', body);
  const overX402 = request(gateway, '/image/family-e-2', body);
  const unpaid = await fetch(overMpp.url, overMpp.init);
  const { authorization = '' } = await openMppPayer(gateway.state, 'chain-c').sign(unpaid);
  const { payload } = JSON.parse(Buffer.from(authorization.replace(/^Payment /, ''), 'base64url').toString());
  const challenge = await fetch(overX402.url, overX402.init);
  const { accepts } = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString());
  const accepted = accepts.find((offer: { network: string }) => offer.network === caip2);
  const { signature, type: _, ...fields } = payload;
  const proof = encode({ x402Version: 2, accepted, payload: { signature, authorization: fields } });
  const [calls, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  const answers = await Promise.all([sendProof(overMpp, { authorization }), sendProof(overX402, proof)]);
  const results = answers.filter(({ status }) => status === 200).length;
  const paid = Number(((await gateway.earned('chain-c')) - earned) / PRICE);
  t.equal(results, paid, `${results} results for ${paid} payments`);
  t.equal((await gateway.calls()).upstreamCalls - calls.upstreamCalls, 1);
});

t.test('who reads a settlement on the chain cannot fetch what it bought', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: prompt() });
  const bought = await sendProof(call, await signProof(gateway, 'chain-c', call));
  const transaction = await reader.getTransaction({ hash: receiptOf(bought).transaction as Hex });
  const { args } = decodeFunctionData({ abi: tokenAbi, data: transaction.input });
  const [from, to, value, validAfter, validBefore, nonce, ...rest] = args as readonly unknown[];
  const [v, r, s] = rest as [number, Hex, Hex];
  const signature = rest.length === 1 ? rest[0] : `${r}${s.slice(2)}${v.toString(16)}`;
  const challenge = await fetch(call.url, call.init);
  const { accepts } = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString());
  const accepted = accepts.find((offer: { network: string }) => offer.network === caip2);
  const authorization = {
    from,
    to,
    nonce,
    value: `${value}`,
    validAfter: `${validAfter}`,
    validBefore: `${validBefore}`,
  };
  const stolen = await sendProof(call, encode({ x402Version: 2, accepted, payload: { signature, authorization } }));
  t.not(stolen.status, 200, 'the calldata alone is no proof of having paid');
});

t.test('a proof with parts of a wrong type is a malformed payment', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: prompt() });
  const payment = decode(await signProof(gateway, 'chain-c', call));
  for (const name of ['network', 'scheme', 'amount', 'asset', 'payTo']) {
    const accepted = { ...payment.accepted, [name]: { toString: null, valueOf: null } };
    t.equal((await sendProof(call, encode({ ...payment, accepted }))).status, 402, name);
  }
});
