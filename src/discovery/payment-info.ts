/**
 * `x-payment-info`: what an operation costs and how it is paid, for whoever reads the OpenAPI documents. The 402 of a
 * call has the last word. Sources: draft-payment-discovery-01 (`offers`) and the client @agentcash/discovery
 * (`protocols`, `pricingMode`, prices as decimal strings in dollars).
 */
import type { Route } from '../catalogue/types.ts';
import { toDecimal } from '../money.ts';

export interface Offer {
  readonly intent: 'charge';
  readonly method: string;
  /** Atomic units of the currency; null where the request decides. */
  readonly amount: string | null;
  /** Token address. */
  readonly currency: string;
  /** Present where the payment settles before the work. */
  readonly paymentFlow?: 'upfront';
  readonly description?: string;
}

/** What an offer says that settles before the work. */
export const SETTLES_UPFRONT =
  'Settles before the work: a call that fails is owed, or refunded where it is refused for good';

export type PaymentInfo<AnyOffer extends Offer = Offer> = {
  /** Names of rails. */
  readonly protocols: readonly string[];
  readonly offers: readonly AnyOffer[];
} & (
  | { readonly pricingMode: 'fixed'; readonly price: string }
  | { readonly pricingMode: 'quote' | 'range'; readonly minPrice: string; readonly maxPrice: string }
);

/** The least and the most that a call costs. */
export const bounds = ({ price }: Route) => ({ minPrice: toDecimal(price.min), maxPrice: toDecimal(price.max) });

/** What a call costs, in words: `0.05 USD`, or `0.06 to 0.15 USD, 0.06 as listed` where the request decides. */
export function priceInWords(route: Route): string {
  const listed = toDecimal(route.listing.price);
  if (route.price.fixed) return `${listed} USD`;
  const { minPrice, maxPrice } = bounds(route);
  return `${minPrice} to ${maxPrice} USD, ${listed} as listed`;
}
