import type { Route } from '../../../catalogue/types.ts';
import type { PayableNetwork } from '../../../discovery/payable.ts';
import { bounds, type Offer, type PaymentInfo, SETTLES_UPFRONT } from '../../../discovery/payment-info.ts';
import { toAtomic, toDecimal } from '../../../money.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import { afterResultFirst } from '../../../payment/settle-upfront.ts';
import { upfrontOn, whereInWords } from './upfront.ts';

/** `network` is a CAIP-2 id. `amount` is what a call without a body is asked for. */
interface X402Offer extends Offer {
  readonly scheme: 'exact';
  readonly amount: string;
  readonly network: string;
  readonly payTo: string;
}

function flowInWords(where: ReturnType<typeof upfrontOn>): Pick<X402Offer, 'description'> {
  return where === undefined ? {} : { description: SETTLES_UPFRONT.replace(':', `${whereInWords(where)}:`) };
}

/** `x-payment-info` of an operation: one offer for each network. */
export function x402PaymentInfo(
  route: Route,
  networks: readonly PayableNetwork[],
  policy: ExposurePolicy,
): PaymentInfo<X402Offer> {
  const protocols = ['x402'];
  const upfront = ({ network }: PayableNetwork) => upfrontOn(network, route, policy);
  const isUpfront = (each: PayableNetwork) => upfront(each) === 'all';
  const offers = afterResultFirst(networks, isUpfront).map((each): X402Offer => {
    const { binding, payTo } = each;
    return {
      intent: 'charge',
      method: 'x402',
      scheme: 'exact',
      amount: toAtomic(route.listing.price, binding.asset.decimals).toString(),
      currency: binding.asset.address,
      network: binding.caip2,
      payTo,
      ...(isUpfront(each) && { paymentFlow: 'upfront' }),
      ...flowInWords(upfront(each)),
    };
  });
  return route.price.fixed
    ? { protocols, pricingMode: 'fixed', price: toDecimal(route.listing.price), offers }
    : { protocols, pricingMode: 'range', ...bounds(route), offers };
}
