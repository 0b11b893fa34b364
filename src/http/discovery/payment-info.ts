/**
 * `x-payment-info`: what an operation costs and how it is paid, for whoever reads the OpenAPI documents. The 402 of a
 * call has the last word. Sources: draft-payment-discovery-01 (`offers`) and the discovery clients of x402
 * (`protocols`, `pricingMode`, prices as decimal strings in dollars).
 */
import type { Route } from '../../catalogue/types.ts';
import { toAtomic, toDecimal } from '../../money.ts';
import type { MppOffer } from '../../rails/mpp/rail.ts';
import type { PayableNetwork } from './payable.ts';

export interface Offer {
  readonly intent: 'charge';
  readonly method: string;
  /** Atomic units of the currency; null where the request decides. */
  readonly amount: string | null;
  /** Token address. */
  readonly currency: string;
  readonly description?: string;
}

/** `network` is a CAIP-2 id. `amount` is what a call without a body is asked for. */
export interface X402Offer extends Offer {
  readonly scheme: 'exact';
  readonly amount: string;
  readonly network: string;
  readonly payTo: string;
}

export type PaymentInfo<AnyOffer extends Offer = Offer> = {
  readonly protocols: readonly ('mpp' | 'x402')[];
  readonly offers: readonly AnyOffer[];
} & (
  | { readonly pricingMode: 'fixed'; readonly price: string }
  | { readonly pricingMode: 'quote' | 'range'; readonly minPrice: string; readonly maxPrice: string }
);

const bounds = ({ price }: Route) => ({ minPrice: toDecimal(price.min), maxPrice: toDecimal(price.max) });

/** What a call costs, in words: `0.05 USD`, or `0.06 to 0.15 USD, 0.06 as listed` where the request decides. */
export function priceInWords(route: Route): string {
  const listed = toDecimal(route.listing.price);
  if (route.price.fixed) return `${listed} USD`;
  const { minPrice, maxPrice } = bounds(route);
  return `${minPrice} to ${maxPrice} USD, ${listed} as listed`;
}

/** Every price that depends on the request is a quote, whose offers name no amount (draft-payment-discovery-01). */
export function mppPaymentInfo(route: Route, offers: readonly MppOffer[]): PaymentInfo {
  const protocols = ['mpp'] as const;
  if (route.price.fixed) {
    return { protocols, pricingMode: 'fixed', price: toDecimal(route.listing.price), offers };
  }
  const description = `${priceInWords(route)}: the 402 has the price of the request`;
  const open = offers.map((offer) => ({ ...offer, amount: null, description }));
  return { protocols, pricingMode: 'quote', ...bounds(route), offers: open };
}

export function x402PaymentInfo(route: Route, networks: readonly PayableNetwork[]): PaymentInfo<X402Offer> {
  const protocols = ['x402'] as const;
  const offers = networks.map(({ binding, payTo }): X402Offer => {
    return {
      intent: 'charge',
      method: 'x402',
      scheme: 'exact',
      amount: toAtomic(route.listing.price, binding.asset.decimals).toString(),
      currency: binding.asset.address,
      network: binding.caip2,
      payTo,
    };
  });
  return route.price.fixed
    ? { protocols, pricingMode: 'fixed', price: toDecimal(route.listing.price), offers }
    : { protocols, pricingMode: 'range', ...bounds(route), offers };
}
