import type { Network, NetworkBinding, NetworkId, Route } from '../catalogue/types.ts';

/** Where routes are paid: the networks with an address, as they are in one mode. */
export interface Payable {
  readonly networks: ReadonlyMap<NetworkId, Network>;
  readonly mode: 'live' | 'sandbox';
  /** Undefined: the network is not offered. */
  readonly payTo: (network: Network) => string | undefined;
}

export interface PayableNetwork {
  readonly network: Network;
  readonly binding: NetworkBinding;
  readonly payTo: string;
}

/** The networks that a route can be paid on, in the order of the route. */
export function payableOn(route: Route, { networks, mode, payTo }: Payable): PayableNetwork[] {
  return route.networks.flatMap((id) => {
    const network = networks.get(id);
    const address = network && payTo(network);
    return network && address !== undefined ? [{ network, binding: network[mode], payTo: address }] : [];
  });
}

/**
 * Of the routes to one thing, those by which it can be bought here. `isPaid`: some network pays for it. Operations are sold
 * only where their rail is open.
 */
export const payableRoutes = (routes: readonly Route[], isPaid: boolean): Route[] =>
  routes.filter(({ kind, endpoint }) => kind === 'operation' || endpoint.free || isPaid);
