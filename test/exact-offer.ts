/** An x402 version 2 offer of the exact scheme on an EVM network, paid without a client in between: that is quick. */
import { randomBytes } from 'node:crypto';
import { type Hex, hashTypedData } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';
import { TRANSFER_TYPES } from './transfer-types.ts';

export interface Offer {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string; readonly paymentFlow?: string };
}

/** The `accepts` of a 402's header. */
export function offersOf(unpaid: Response): Offer[] {
  const header = unpaid.headers.get('payment-required');
  return header === null ? [] : JSON.parse(Buffer.from(header, 'base64').toString()).accepts;
}

interface Terms {
  /** 32 bytes in hex. Default: random ones. */
  readonly nonce?: Hex;
  /** Seconds that the authorization is good for. Default: as many as the offer asks for. */
  readonly seconds?: number;
}

/** EIP-3009 `TransferWithAuthorization`, as the payload of an x402 payment of version 2. */
export async function signPayload(offer: Offer, key: Hex, terms: Terms = {}) {
  const { network, asset, payTo, amount, maxTimeoutSeconds, extra } = offer;
  const validBefore = Math.floor(Date.now() / 1000) + (terms.seconds ?? maxTimeoutSeconds);
  const nonce: Hex = terms.nonce ?? `0x${randomBytes(32).toString('hex')}`;
  const from = privateKeyToAddress(key);
  const { name, version } = extra;
  const digest = hashTypedData({
    domain: { name, version, chainId: Number(network.replace('eip155:', '')), verifyingContract: asset },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to: payTo, value: BigInt(amount), validAfter: 0n, validBefore: BigInt(validBefore), nonce },
  });
  const signature = await sign({ hash: digest, privateKey: key, to: 'hex' });
  const authorization = { from, to: payTo, value: amount, validAfter: '0', validBefore: String(validBefore), nonce };
  return { x402Version: 2, accepted: offer, payload: { signature, authorization } };
}

/** The header that carries a payload. */
export const inHeader = (payload: object): Record<string, string> => ({
  'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64'),
});
