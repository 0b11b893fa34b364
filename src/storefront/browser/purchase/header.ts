/** The headers of x402: JSON as UTF-8 in base64. Source: x402 version 2, HTTP transport. */
import type { PaymentRequired } from '@x402/core/types';

function decoded(header: string | null): unknown {
  if (header === null) return undefined;
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

export const paymentRequiredIn = (headers: Headers): (PaymentRequired & { readonly error?: string }) | undefined =>
  decoded(headers.get('payment-required')) as PaymentRequired | undefined;

export interface Receipt {
  readonly success?: boolean;
  readonly transaction?: string;
  readonly network?: string;
  readonly payer?: string;
  readonly amount?: string;
}

export const receiptIn = (headers: Headers): Receipt | undefined =>
  decoded(headers.get('payment-response')) as Receipt | undefined;

/** What carries a signature, or what is told decoded anyway. */
const UNTOLD = new Set(['payment-signature', 'x-payment', 'authorization', 'payment-required', 'payment-response']);

/** As they are shown. */
export function shownHeaders(headers: Headers): [string, string][] {
  const shown: [string, string][] = [];
  headers.forEach((value, name) => {
    if (!UNTOLD.has(name) && !name.startsWith('access-control-')) shown.push([name, value]);
  });
  return shown;
}
