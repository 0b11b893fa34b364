/** Payments for what a 402 asks. The world's facilitator looks at no signature, so only MPP's are real ones. */
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { openPayer } from '../../src/rails/mpp/payer.ts';
import type { Signed } from './chain.ts';
import { paymentOf } from './facilitator.ts';
import type { Network } from './network.ts';
import type { Answer } from './send.ts';

export interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  readonly signed: Signed;
  /** As the store names it. */
  readonly payment: string;
}

export interface Wallet {
  readonly address: string;
  readonly privateKey: Hex;
}

export type Method = 'exact' | 'exact of version 1' | 'upto' | 'mpp';

export interface ProofOptions {
  /** The purchase's own name, by the extension `payment-identifier`. */
  readonly identifier?: string | undefined;
}

/** How long what is signed is good, in seconds: longer than a payer is patient. */
const GOOD_FOR = 55;

const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;
const inBase64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Throws where the answer does not offer the method. */
export async function pay(
  unpaid: Answer,
  method: Method,
  wallet: Wallet,
  network: Network,
  options: ProofOptions = {},
): Promise<Proof> {
  const { headers, signed } = await signers[method](unpaid, wallet, network, options);
  return { headers, signed, payment: paymentOf(network.caip2, network.asset.toLowerCase(), signed) };
}

type Signer = (
  unpaid: Answer,
  wallet: Wallet,
  network: Network,
  options: ProofOptions,
) => Promise<Pick<Proof, 'headers' | 'signed'>> | Pick<Proof, 'headers' | 'signed'>;

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
  const nonce = hex(32);
  const signed: Signed = {
    kind: 'eip3009',
    payer: address,
    payTo: payTo.toLowerCase(),
    nonce,
    most: BigInt(amount),
    validBefore,
  };
  const authorization = {
    from: address,
    to: payTo,
    value: amount,
    validAfter: '0',
    validBefore: String(validBefore),
    nonce,
  };
  return { signed, payload: { signature: hex(65), authorization } };
}

function permit({ address }: Wallet, { payTo, amount, asset }: Offer) {
  const deadline = Math.floor(Date.now() / 1000) + GOOD_FOR;
  const nonce = BigInt(hex(16)).toString();
  const signed: Signed = {
    kind: 'permit2',
    payer: address,
    payTo: payTo.toLowerCase(),
    nonce,
    most: BigInt(amount),
    validBefore: deadline,
  };
  const permit2Authorization = {
    from: address,
    permitted: { token: asset, amount },
    spender: hex(20),
    nonce,
    deadline: String(deadline),
    witness: { to: payTo, facilitator: hex(20), validAfter: '0' },
  };
  return { signed, payload: { signature: hex(65), permit2Authorization } };
}

const ofVersion2 =
  (scheme: 'exact' | 'upto'): Signer =>
  ({ headers }, wallet, { caip2 }, { identifier }) => {
    const required = JSON.parse(Buffer.from(String(headers['payment-required']), 'base64').toString());
    const accepted = offerOf(required.accepts, scheme, caip2);
    const { signed, payload } = scheme === 'exact' ? authorize(wallet, accepted) : permit(wallet, accepted);
    const extensions = {
      challenge: required.extensions.challenge,
      ...(identifier && { 'payment-identifier': { info: { required: false, id: identifier } } }),
    };
    const payment = { x402Version: 2, payload, resource: required.resource, accepted, extensions };
    return { signed, headers: { 'payment-signature': inBase64(payment) } };
  };

const signers: Record<Method, Signer> = {
  exact: ofVersion2('exact'),
  upto: ofVersion2('upto'),
  'exact of version 1': ({ text }, wallet, { v1 }) => {
    const { signed, payload } = authorize(wallet, offerOf(JSON.parse(text).accepts, 'exact', v1));
    return { signed, headers: { 'x-payment': inBase64({ x402Version: 1, scheme: 'exact', network: v1, payload }) } };
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
    const signed: Signed = {
      kind: 'eip3009',
      payer: String(payload.from).toLowerCase(),
      payTo: String(payload.to).toLowerCase(),
      nonce: String(payload.nonce).toLowerCase(),
      most: BigInt(payload.value),
      validBefore: Number(payload.validBefore),
    };
    return { signed, headers: { authorization: String(paid.authorization) } };
  },
};
