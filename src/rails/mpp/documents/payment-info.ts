import type { Route } from '../../../catalogue/types.ts';
import { bounds, type PaymentInfo, priceInWords } from '../../../discovery/payment-info.ts';
import { toDecimal } from '../../../money.ts';
import type { MppOffer } from '../rail.ts';

/** Every price that depends on the request is a quote, whose offers name no amount (draft-payment-discovery-01). */
export function mppPaymentInfo(route: Route, offers: readonly MppOffer[]): PaymentInfo {
  const protocols = ['mpp'];
  if (route.price.fixed) {
    return { protocols, pricingMode: 'fixed', price: toDecimal(route.listing.price), offers };
  }
  const price = `${priceInWords(route)}: the 402 has the price of the request`;
  const open = offers.map((offer) => {
    return { ...offer, amount: null, description: [price, offer.description].filter(Boolean).join('. ') };
  });
  return { protocols, pricingMode: 'quote', ...bounds(route), offers: open };
}
