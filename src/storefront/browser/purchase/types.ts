/** Between the form of a request and what pays for it. */
import type { PaymentRequired } from '@x402/core/types';

/** A request as it is sent, to the byte. */
export interface CallRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON. */
  readonly body?: string;
}

/** The same for `fetch`: with a payment, or to be told the price. */
export const requestOf = (
  { method, body }: CallRequest,
  headers: Readonly<Record<string, string>> = {},
): RequestInit => ({
  method,
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  ...(body !== undefined && { body }),
  cache: 'no-store',
});

/** What a request costs. */
export interface Quote {
  /** Dollars, decimal. */
  readonly price: string;
  readonly paymentRequired: PaymentRequired;
}

/** One way to pay a quote. */
export type Accepted = PaymentRequired['accepts'][number];
