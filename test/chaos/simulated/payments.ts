/** Payments for what a 402 asks. The simulated facilitator looks at no signature, so only MPP's are real ones. */
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { openPayer } from '../../../src/rails/mpp/payer.ts';
import type { Method, Proof, ProofOptions, Wallet } from '../chains.ts';
import { x402Name } from '../names.ts';
import type { Answer } from '../send.ts';
import type { Network } from './network.ts';

/** How long what is signed is good, in seconds: longer than a payer is patient. */
const GOOD_FOR = 55;

const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;
const inBase64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** What was signed, as x402 has it, and the headers that carry it. */
interface Signed {
  readonly headers: Proof['headers'];
  readonly payload: object;
  readonly validBefore: number;
}

type Signer = (unpaid: Answer, wallet: Wallet, network: Network, options: ProofOptions) => Promise<Signed> | Signed;

/** Throws where the answer does not offer the method. */
export async function pay(
  network: Network,
  unpaid: Answer,
  method: Method,
  wallet: Wallet,
  options: ProofOptions = {},
): Promise<Proof> {
  const signer = signers[method];
  if (!signer) throw new Error(`nobody pays by ${method} here`);
  const { headers, payload, validBefore } = await signer(unpaid, wallet, network, options);
  return { headers, validBefore, payment: x402Name(network.caip2, network.asset, payload) };
}

interface Offer {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly payTo: string;
  readonly asset: string;
}

function offerOf(accepts: readonly Offer[], scheme: string, network: string): Offer {
  const offer = accepts.find((each) => each.scheme === scheme && each.network === network);
  if (!offer) throw new Error(`${scheme} on ${network} is not offered`);
  return offer;
}

function authorize({ address }: Wallet, { payTo, amount }: Offer) {
  const validBefore = Math.floor(Date.now() / 1000) + GOOD_FOR;
  const authorization = {
    from: address,
    to: payTo,
    value: amount,
    validAfter: '0',
    validBefore: String(validBefore),
    nonce: hex(32),
  };
  return { validBefore, payload: { signature: hex(65), authorization } };
}

function permit({ address }: Wallet, { payTo, amount, asset }: Offer) {
  const validBefore = Math.floor(Date.now() / 1000) + GOOD_FOR;
  const permit2Authorization = {
    from: address,
    permitted: { token: asset, amount },
    spender: hex(20),
    nonce: BigInt(hex(16)).toString(),
    deadline: String(validBefore),
    witness: { to: payTo, facilitator: hex(20), validAfter: '0' },
  };
  return { validBefore, payload: { signature: hex(65), permit2Authorization } };
}

const ofVersion2 =
  (scheme: 'exact' | 'upto'): Signer =>
  ({ headers }, wallet, { caip2 }, { identifier }) => {
    const required = JSON.parse(Buffer.from(String(headers['payment-required']), 'base64').toString());
    const accepted = offerOf(required.accepts, scheme, caip2);
    const { payload, validBefore } = scheme === 'exact' ? authorize(wallet, accepted) : permit(wallet, accepted);
    const extensions = {
      challenge: required.extensions.challenge,
      ...(identifier && { 'payment-identifier': { info: { required: false, id: identifier } } }),
    };
    const payment = { x402Version: 2, payload, resource: required.resource, accepted, extensions };
    return { payload, validBefore, headers: { 'payment-signature': inBase64(payment) } };
  };

const signers: Partial<Record<Method, Signer>> = {
  exact: ofVersion2('exact'),
  upto: ofVersion2('upto'),
  'exact of version 1': ({ text }, wallet, { v1 }) => {
    const { payload, validBefore } = authorize(wallet, offerOf(JSON.parse(text).accepts, 'exact', v1));
    const payment = { x402Version: 1, scheme: 'exact', network: v1, payload };
    return { payload, validBefore, headers: { 'x-payment': inBase64(payment) } };
  },
  async mpp({ status, headers, text }, { privateKey }, network) {
    const { caip2, asset, name, version, decimals } = network;
    const access = {
      caip2,
      chainId: Number(caip2.split(':')[1]),
      rpcUrl: '',
      asset,
      name,
      version,
      decimals,
      privateKey,
    };
    const payer = openPayer(
      { evm: { [network.id]: access } } as unknown as Parameters<typeof openPayer>[0],
      network.id,
    );
    const challenges = [headers['www-authenticate'] ?? []]
      .flat()
      .map((value): [string, string] => ['www-authenticate', value]);
    const paid = await payer.sign(new Response(text, { status, headers: challenges }));
    const { payload } = JSON.parse(
      Buffer.from(String(paid.authorization).replace(/^Payment /, ''), 'base64url').toString(),
    );
    return {
      payload: { authorization: payload },
      validBefore: Number(payload.validBefore),
      headers: { authorization: String(paid.authorization) },
    };
  },
};
