/** What payments and sums call things, in the words of the catalogue that is sold now. */
import { sellsCredits } from '../catalogue/sells-credits.ts';
import type { Catalogue } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import { assetsOf, fromAtomic } from '../payment/assets.ts';

export interface Names {
  /** Id of the endpoint that a route is of; the route itself where it is sold no more. */
  endpointOf(route: string): string;
  /** Every route of an endpoint; its name itself where it is sold no more. */
  routesOf(endpoint: string): readonly string[];
  /** A network as the catalogue names it, by that name or by CAIP-2. */
  networkOf(name: string): string;
  /** Every name that payments may have a network by. */
  namesOf(network: string): readonly string[];
  /** Whether the route sells credits: they are revenue when they are spent. */
  sellsCredits(route: string): boolean;
  symbolOf(asset: string): string;
  decimalsOf(asset: string): number;
  worth(moved: { readonly amount: string | bigint; readonly asset: string }): Money;
}

/** As catalogues name it that are sold no more. */
const CREDITS = 'credits/credits';

export function namesIn({ routes, networks }: Catalogue, mode: 'sandbox' | 'live'): Names {
  const byId = new Map(routes.map((route) => [route.id, route]));
  const assetOf = assetsOf(networks.values());
  const known = [...networks.values()];
  const networkOf = (name: string) => known.find((each) => each[mode].caip2 === name)?.id ?? name;
  return {
    endpointOf: (route) => byId.get(route)?.endpoint.id ?? route,
    routesOf(endpoint) {
      const own = routes.filter((route) => route.endpoint.id === endpoint);
      return own.length === 0 ? [endpoint] : own.map(({ id }) => id);
    },
    networkOf,
    namesOf(network) {
      const id = networkOf(network);
      const caip2 = networks.get(id)?.[mode].caip2;
      return caip2 === undefined ? [id] : [id, caip2];
    },
    sellsCredits(route) {
      const known = byId.get(route);
      return route === CREDITS || (known !== undefined && sellsCredits(known));
    },
    symbolOf: (asset) => assetOf(asset).symbol,
    decimalsOf: (asset) => assetOf(asset).decimals,
    worth: ({ amount, asset }) => fromAtomic(amount.toString(), assetOf(asset)),
  };
}
