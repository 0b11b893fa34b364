/** What an x402 gateway asks for, and the header that pays it. Source: x402 version 2, HTTP transport. */
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { asJsonObject, asJsonObjects, type JsonObject, textOrNull } from '../json.ts';
import type { Offer } from './offers.ts';
import type { Challenge, Payment, Wallet } from './wallet.ts';

/** What a 402 says in its header; nothing where it has none. */
export function x402Required(unpaid: Response): JsonObject {
  try {
    return asJsonObject(decodePaymentRequiredHeader(unpaid.headers.get('payment-required') ?? ''));
  } catch {
    return {};
  }
}

export function x402Challenge(unpaid: Response): Challenge {
  const { accepts, resource, extensions } = x402Required(unpaid);
  return { accepts: asJsonObjects(accepts), resource, extensions };
}

/** The header of a payment. */
export const x402Header = (payment: Payment): Record<string, string> => ({
  'payment-signature': encodePaymentSignatureHeader(payment as Parameters<typeof encodePaymentSignatureHeader>[0]),
});

export interface X402Offer {
  readonly offer: Offer;
  /** The header that pays it. Throws where what would be signed is not what is offered. */
  sign(): Promise<Record<string, string>>;
}

/** What the wallet could pay of what a 402 asks for, in the gateway's order. */
export const x402Offers = (challenge: Challenge, wallet: Wallet): X402Offer[] =>
  wallet.offers(challenge).map((offer) => ({
    offer,
    sign: async () => x402Header(await wallet.sign(offer, challenge)),
  }));

/** What an answer says of the settlement; undefined where it says nothing. */
export function x402Response(answer: Response): JsonObject | undefined {
  try {
    return asJsonObject(decodePaymentResponseHeader(answer.headers.get('payment-response') ?? ''));
  } catch {
    return undefined;
  }
}

/** The transaction that a receipt names; undefined where there is none. */
export const x402Transaction = (answer: Response): string | undefined =>
  textOrNull(x402Response(answer)?.transaction) ?? undefined;
