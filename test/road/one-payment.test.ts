/** One payment buys one call at its price, whatever a payer does with its authorization. */
import '../payment/facilitators/own-fetch.ts';
import { randomBytes } from 'node:crypto';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import t from 'tap';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  decodeFunctionData,
  defineChain,
  type Hex,
  http,
  parseAbi,
  parseSignature,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { type PaidCall, receiptOf, request, sendProof, signProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);

const PRICE = 60_000n;
const { rpcUrl, chainId, asset, privateKey, caip2 } = gateway.state.evm['chain-c'] as NonNullable<
  (typeof gateway.state.evm)[string]
>;
const payTo = gateway.state.payTo['chain-c'] as Address;
const payer = privateKeyToAccount(privateKey);
const nativeCurrency = { name: 'gas', symbol: 'GAS', decimals: 18 };
const chain = defineChain({ id: chainId, name: 'local', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
const reader = createPublicClient({ chain, transport: http(rpcUrl), pollingInterval: 20 });
const wallet = createWalletClient({ account: payer, chain, transport: http(rpcUrl) });
await reader.request({ method: 'anvil_setBalance' as never, params: [payer.address, '0xde0b6b3a7640000'] as never });
const abi = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
]);

/** The payer's own transfer under a nonce of its choice. */
async function transferMyself(nonce: Hex, value: bigint): Promise<void> {
  const message = { from: payer.address, to: payTo, value, validAfter: 0n, validBefore: 4_000_000_000n, nonce };
  const signature = await payer.signTypedData({
    domain: { name: 'USDC', version: '2', chainId, verifyingContract: asset as Address },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const { r, s, v } = parseSignature(signature);
  const hash = await wallet.writeContract({
    address: asset as Address,
    abi,
    functionName: 'transferWithAuthorization',
    args: [message.from, message.to, value, 0n, message.validBefore, nonce, Number(v), r, s],
  });
  await reader.waitForTransactionReceipt({ hash });
}

let made = 0;
const prompt = () => {
  made += 1;
  return `a lighthouse, number ${made}`;
};
const decode = (proof: Record<string, string>) =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const encode = (payment: unknown) => ({ 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') });

async function signUpto({ url, init }: PaidCall): Promise<Record<string, string>> {
  const client = new x402Client((_version, accepts) => accepts.filter(({ scheme }) => scheme === 'upto')[0] as never);
  const side = new x402HTTPClient(client.setSpendControls(false).register('eip155:*', new UptoEvmScheme(payer)));
  const unpaid = await fetch(url, init);
  const challenge = side.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return side.encodePaymentSignatureHeader(await side.createPaymentPayload(challenge));
}

t.test('a permit that is sent with made-up authorizations beside it buys one call', async (t) => {
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  const payment = decode(await signUpto(call));
  const used = `0x${randomBytes(32).toString('hex')}` as Hex;
  await transferMyself(used, 1n);
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
  await transferMyself(decode(proof).payload.authorization.nonce, 1n);
  const second = await sendProof(call, proof);
  t.not(second.status, 200, 'no result for a millionth of a dollar');
});

t.test('the same, while the upstream works', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: prompt() });
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, calls] = [await gateway.earned('chain-c'), await gateway.calls()];
  const answer = sendProof(call, proof);
  while ((await gateway.calls()).upstreamCalls === calls.upstreamCalls) await new Promise((r) => setTimeout(r, 2));
  await transferMyself(decode(proof).payload.authorization.nonce, 1n);
  const { status } = await answer;
  t.ok(status !== 200 || (await gateway.earned('chain-c')) - earned >= PRICE, 'a result is paid in full');
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
  const { args } = decodeFunctionData({ abi, data: transaction.input });
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
