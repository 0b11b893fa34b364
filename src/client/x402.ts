/** What an x402 gateway asks for, and the header that pays it. Source: x402 version 2, HTTP transport. */
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { asJsonObject, asJsonObjects, textOrNull } from '../json.ts';
import type { Offer } from './offers.ts';
import type { Challenge, Wallet } from './wallet.ts';

function challengeOf(unpaid: Response): Challenge {
  try {
    const { accepts, resource, extensions } = asJsonObject(
      decodePaymentRequiredHeader(unpaid.headers.get('payment-required') ?? ''),
    );
    return { accepts: asJsonObjects(accepts), resource, extensions };
  } catch {
    return { accepts: [], resource: undefined, extensions: undefined };
  }
}

export interface X402Offer {
  readonly offer: Offer;
  /** The header that pays it. Throws where what would be signed is not what is offered. */
  sign(): Promise<Record<string, string>>;
}

/** What the wallet could pay of what a 402 asks for, in the gateway's order. */
export function x402Offers(unpaid: Response, wallet: Wallet): X402Offer[] {
  const challenge = challengeOf(unpaid);
  return wallet.offers(challenge).map((offer) => ({
    offer,
    async sign() {
      const payment = await wallet.sign(offer, challenge);
      const encoded = encodePaymentSignatureHeader(payment as Parameters<typeof encodePaymentSignatureHeader>[0]);
      return { 'payment-signature': encoded };
    },
  }));
}

/** The transaction that a receipt names; undefined where there is none. */
export function x402Transaction(answer: Response): string | undefined {
  try {
    const receipt = asJsonObject(decodePaymentResponseHeader(answer.headers.get('payment-response') ?? ''));
    return textOrNull(receipt.transaction) ?? undefined;
  } catch {
    return undefined;
  }
}
