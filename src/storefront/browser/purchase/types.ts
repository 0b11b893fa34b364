/** Between the form of a request and what pays for it. */
import type { PaymentRequired } from '@x402/core/types';

/** A request as it is sent, to the byte. */
export interface CallRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON. */
  readonly body?: string;
}

/** What a request costs. */
export interface Quote {
  /** Dollars, decimal. */
  readonly price: string;
  readonly paymentRequired: PaymentRequired;
}

/** One way to pay a quote. */
export type Accepted = PaymentRequired['accepts'][number];
