/**
 * Payments signed in this process: the soak measures the gateway, so what its callers cost is kept small. EIP-3009
 * authorizations of x402 version 2 are made directly; Solana and MPP go through their clients.
 */
import type { x402HTTPClient } from '@x402/core/client';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { openWallet } from '../../src/rails/x402/payer.ts';
import type { Gateway } from '../clients.ts';
import { inHeader, offersOf, signPayload } from '../exact-offer.ts';

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
      if (!unpaid.headers.has('payment-required')) return mpp.sign(unpaid);
      for (const offer of offersOf(unpaid)) {
        const key = offer.scheme === 'exact' ? keys.get(offer.network) : undefined;
        if (key) return inHeader(await signPayload(offer, key));
      }
      const challenge = solana.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
      return solana.encodePaymentSignatureHeader(await solana.createPaymentPayload(challenge));
    },
  };
}
