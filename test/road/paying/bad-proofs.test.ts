import t from 'tap';
import { concat, type Hex, parseSignature, serializeSignature, slice, toHex } from 'viem';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway();
t.teardown(gateway.stop);

const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

interface Payload {
  x402Version: number;
  accepted: Record<string, unknown>;
  payload: { signature: string; authorization: Record<string, string> };
}

/** A good proof with something changed. */
async function changed(change: (payload: Payload) => void): Promise<Record<string, string>> {
  const proof = await signProof(gateway, 'chain-c', call);
  const payload = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
  change(payload);
  return { 'payment-signature': encode(payload) };
}

/** Of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Signed as well, by mathematics; tokens take one of the two. */
function twinOf(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature);
  return serializeSignature({ r, s: toHex(ORDER - BigInt(s), { size: 32 }), yParity: 1 - yParity });
}

const withParity = (signature: Hex): Hex =>
  concat([slice(signature, 0, 64), signature.endsWith('1b') ? '0x00' : '0x01']);

const other = '0x00000000000000000000000000000000000000aa';
const proofs: Record<string, { proof: () => Promise<Record<string, string>>; type: RegExp; detail: RegExp }> = {
  'longer than 12 KB': {
    proof: async () => ({ 'payment-signature': 'A'.repeat(12_300) }),
    type: /malformed-credential/,
    detail: /12288/,
  },
  'not base64': { proof: async () => ({ 'x-payment': '%%%' }), type: /malformed-credential/, detail: /base64/ },
  'not JSON': { proof: async () => ({ 'x-payment': 'AAAA' }), type: /malformed-credential/, detail: /JSON/ },
  'JSON of a number': {
    proof: async () => ({ 'x-payment': encode(7) }),
    type: /malformed-credential/,
    detail: /object/,
  },
  'of an unknown version': {
    proof: () => changed((payload) => Object.assign(payload, { x402Version: 3 })),
    type: /malformed-credential/,
    detail: /x402Version must be 1 or 2/,
  },
  'without a payload': {
    proof: () => changed((payload) => Object.assign(payload, { payload: {} })),
    type: /malformed-credential/,
    detail: /authorization/,
  },
  'with objects where text belongs': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { amount: { toString: null, valueOf: null } })),
    type: /malformed-credential/,
    detail: /accepted\.amount must be a string/,
  },
  'with a second authorization beside the one that is signed': {
    proof: () => changed(({ payload }) => Object.assign(payload, { permit2Authorization: {} })),
    type: /malformed-credential/,
    detail: /not several/,
  },
  'for an unknown network': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { network: 'eip155:1' })),
    type: /verification-failed/,
    detail: /eip155:1/,
  },
  'for a network that is not offered here': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { network: 'eip155:988' })),
    type: /verification-failed/,
    detail: /paid on/,
  },
  'for another amount': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { amount: '1' })),
    type: /payment-insufficient/,
    detail: /60000/,
  },
  'signed for another amount': {
    proof: () => changed(({ payload }) => Object.assign(payload.authorization, { value: '1' })),
    type: /payment-insufficient/,
    detail: /60000/,
  },
  'for more than the price': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { amount: '70000' })),
    type: /verification-failed/,
    detail: /^the payment is for 70000, the price is 60000 atomic units: that is more than the call costs/,
  },
  'signed for more than the price': {
    proof: () => changed(({ payload }) => Object.assign(payload.authorization, { value: '70000' })),
    type: /verification-failed/,
    detail: /^the payment is for 70000, the price is 60000 atomic units: that is more than the call costs/,
  },
  'in another asset': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { asset: other })),
    type: /verification-failed/,
    detail: /asset/,
  },
  'to another address': {
    proof: () => changed(({ accepted }) => Object.assign(accepted, { payTo: other })),
    type: /verification-failed/,
    detail: /goes to/,
  },
  'signed to another address': {
    proof: () => changed(({ payload }) => Object.assign(payload.authorization, { to: other })),
    type: /verification-failed/,
    detail: /goes to/,
  },
  expired: {
    proof: () => changed(({ payload }) => Object.assign(payload.authorization, { validBefore: '1000000000' })),
    type: /payment-expired/,
    detail: /expired/,
  },
  'with a bad signature': {
    proof: () => changed(({ payload }) => Object.assign(payload, { signature: `0x${'12'.repeat(65)}` })),
    type: /verification-failed/,
    detail: /signature/i,
  },
  'with the twin of its signature, whose s is in the upper half': {
    proof: () => changed(({ payload }) => Object.assign(payload, { signature: twinOf(payload.signature as Hex) })),
    type: /verification-failed/,
    detail: /signature is not/,
  },
  'with the parity of its signature in place of v': {
    proof: () => changed(({ payload }) => Object.assign(payload, { signature: withParity(payload.signature as Hex) })),
    type: /verification-failed/,
    detail: /signature is not/,
  },
  'with a nonce that is no nonce': {
    proof: () => changed(({ payload }) => Object.assign(payload.authorization, { nonce: '0x12' })),
    type: /malformed-credential/,
    detail: /authorization.nonce/,
  },
};

for (const [name, { proof, type, detail }] of Object.entries(proofs)) {
  t.test(`a proof ${name} is a 402 with a fresh challenge and the reason`, async (t) => {
    const sent = await proof();
    const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
    const answer = await sendProof(call, sent);
    t.equal(answer.status, 402);
    const problem = (await answer.json()) as { title: string };
    t.match(problem, { type, detail });
    t.equal(/too small/.test(problem.title), type.test('payment-insufficient'));
    const challenge = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());
    t.match(challenge, { x402Version: 2, accepts: [{ amount: '60000' }], error: detail });
    t.same(await gateway.calls(), before);
    t.equal(await gateway.earned('chain-c'), earned);
  });
}

t.test('two payments with one request are told as such, and neither is taken', async (t) => {
  const proofs = [await signProof(gateway, 'chain-c', call), await signProof(gateway, 'chain-c', call)];
  const both = proofs.flatMap(Object.values).join(', ');
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  const answer = await sendProof(call, { 'payment-signature': both });
  t.equal(answer.status, 400);
  t.match(await answer.json(), { error: { code: 'several_credentials' } });
  t.same(await gateway.calls(), before);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('a Solana transaction that pays too little or too much, or is none, is refused', async (t) => {
  const proof = await signProof(gateway, 'chain-a', call);
  const payload = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
  const dear = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse', resolution: '4k' });
  t.match(await (await sendProof(dear, proof)).json(), { type: /payment-insufficient/ });
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-a')];
  t.match(await (await sendProof(call, await signProof(gateway, 'chain-a', dear))).json(), {
    type: /verification-failed/,
    detail: /more than the call costs/,
  });
  t.same(await gateway.calls(), before);
  t.equal(await gateway.earned('chain-a'), earned);
  payload.payload.transaction = Buffer.from('nonsense').toString('base64');
  const answer = await sendProof(call, { 'payment-signature': encode(payload) });
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /malformed-credential/, detail: /transaction/ });
});
