/**
 * Payments signed in this process: the soak measures the gateway, so what its callers cost is kept small. EIP-3009
 * authorizations of x402 version 2 are made directly; Solana and MPP go through their clients.
 */
import { randomBytes } from 'node:crypto';
import type { x402HTTPClient } from '@x402/core/client';

import { type Hex, hashTypedData } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { openWallet } from '../../src/rails/x402/payer.ts';
import type { Gateway } from '../gateway.ts';
import { TRANSFER_TYPES } from '../transfer-types.ts';

interface Offer {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** EIP-3009 `TransferWithAuthorization` of the exact scheme. */
async function signOffer(offer: Offer, key: Hex): Promise<Record<string, string>> {
  const { network, asset, payTo, amount, maxTimeoutSeconds, extra } = offer;
  const validBefore = Math.floor(Date.now() / 1000) + maxTimeoutSeconds;
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const from = privateKeyToAddress(key);
  const digest = hashTypedData({
    domain: { ...extra, chainId: Number(network.replace('eip155:', '')), verifyingContract: asset },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to: payTo, value: BigInt(amount), validAfter: 0n, validBefore: BigInt(validBefore), nonce },
  });
  const signature = await sign({ hash: digest, privateKey: key, to: 'hex' });
  const payload = {
    x402Version: 2,
    accepted: offer,
    payload: {
      signature,
      authorization: { from, to: payTo, value: amount, validAfter: '0', validBefore: String(validBefore), nonce },
    },
  };
  return { 'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64') };
}

export interface Wallet {
  /** The headers that pay what a 402 asks for. */
  sign(unpaid: Response): Promise<Record<string, string>>;
}

export async function openSoakWallet({ state }: Gateway): Promise<Wallet> {
  const keys = new Map(Object.values(state.evm).map(({ caip2, privateKey }) => [caip2, privateKey]));
  const mpp = openMppPayer(state, 'chain-c');
  const solana: x402HTTPClient = await openWallet(state, state.solana?.caip2);
  return {
    async sign(unpaid) {
      const header = unpaid.headers.get('payment-required');
      if (header === null) return mpp.sign(unpaid);
      const { accepts } = JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: Offer[] };
      for (const offer of accepts) {
        const key = offer.scheme === 'exact' ? keys.get(offer.network) : undefined;
        if (key) return signOffer(offer, key);
      }
      const challenge = solana.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
      return solana.encodePaymentSignatureHeader(await solana.createPaymentPayload(challenge));
    },
  };
}
