/** `GET /x402-resources`: everything that is sold over x402, mirrors included. */
import type { Route } from '../../../catalogue/types.ts';
import { type Payable, payableOn } from '../../../discovery/payable.ts';
import { answerSchema, requestSchema } from '../../../discovery/schemas.ts';
import { toDecimal } from '../../../money.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import { type ResourceListing, resourceListing } from '../listing.ts';
import { type UpfrontWhere, upfrontOn } from './upfront.ts';

/** What a call costs on one network; `amount` is a decimal string in units of the asset. */
interface ResourcePricing {
  readonly amount: string;
  readonly asset: string;
  readonly network: string;
  /** Present where the payment settles before the work. */
  readonly paymentFlow?: 'upfront';
  /** Present where it does so for some requests only. */
  readonly upfrontWhere?: UpfrontWhere;
}

export interface ResourceItem extends ResourceListing {
  readonly slug: string;
  readonly method: string;
  readonly description: string;
  readonly input_schema: object;
  readonly output_schema: object;
  readonly x402_version: 'v2';
  readonly price: number;
  /** Present where the price depends on the request. */
  readonly minPrice?: number;
  readonly pricing: ResourcePricing;
  /** The other networks, where there are several. */
  readonly networks?: readonly ResourcePricing[];
}

export interface ResourceList {
  readonly x402_version: 'v2';
  readonly count: number;
  readonly resources: readonly ResourceItem[];
}

/** `upfrontWhere` says which requests settle first, where not all of them do. */
const flow = (where: ReturnType<typeof upfrontOn>): Pick<ResourcePricing, 'paymentFlow' | 'upfrontWhere'> =>
  where === undefined ? {} : where === 'all' ? { paymentFlow: 'upfront' } : { upfrontWhere: where };

function resource(route: Route, payable: Payable, publicUrl: string, policy: ExposurePolicy): ResourceItem[] {
  const { price, minPrice } = route.listing;
  const amount = toDecimal(price);
  const [pricing, ...networks] = payableOn(route, payable).map(({ network, binding }) => ({
    amount,
    asset: binding.asset.symbol,
    network: network.listedAs,
    ...flow(upfrontOn(network, route, policy)),
  }));
  if (!pricing) return [];
  return [
    {
      slug: route.path.slice(1),
      method: route.methods[0] ?? 'POST',
      description: route.endpoint.description,
      ...resourceListing(route, publicUrl),
      input_schema: requestSchema(route),
      output_schema: answerSchema(route),
      x402_version: 'v2',
      price: Number(amount),
      ...(minPrice === undefined ? {} : { minPrice: Number(toDecimal(minPrice)) }),
      pricing,
      ...(networks.length === 0 ? {} : { networks }),
    },
  ];
}

/** Of the routes, those that some network pays for. `publicUrl` without a trailing slash. */
export function resourceList(
  routes: readonly Route[],
  payable: Payable,
  publicUrl: string,
  policy: ExposurePolicy,
): ResourceList {
  const resources = routes.flatMap((route) => resource(route, payable, publicUrl, policy));
  return { x402_version: 'v2', count: resources.length, resources };
}
