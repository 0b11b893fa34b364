/** Where a route can be paid, before and after. */
import type { Catalogue, Network, Route } from '../catalogue/types.ts';
import type { Change } from './change.ts';

/** A route in its catalogue, which says what its networks are. */
export interface Sold {
  readonly route: Route;
  readonly networks: Catalogue['networks'];
}

type NetworkChange = Omit<Change, 'where'>;

/** A network as payers know it: what we call it is our own affair, and payers pay in live mode. */
const payable = ({ live: { asset, caip2 } }: Network): string => `${asset.symbol} ${asset.address} on ${caip2}`;

const networksOf = ({ route, networks }: Sold): Network[] => route.networks.flatMap((id) => networks.get(id) ?? []);

/** Networks where the route is paid both before and after, under whatever names. */
export const keptNetworks = (before: Sold, after: Sold): { was: Network; is: Network }[] =>
  networksOf(before).flatMap((was) => {
    const is = networksOf(after).find((other) => payable(other) === payable(was));
    return is ? [{ was, is }] : [];
  });

export function compareNetworks(before: Sold, after: Sold): NetworkChange[] {
  const kept = keptNetworks(before, after);
  const dropped = networksOf(before).filter((network) => !kept.some(({ was }) => was === network));
  const added = networksOf(after).filter((network) => !kept.some(({ is }) => is === network));
  // Where the id stays, what it stands for does not.
  const named = (network: Network, others: readonly Network[]) =>
    others.some(({ id }) => id === network.id) ? `${network.id}: ${payable(network)}` : network.id;
  const renamed = kept.filter(({ was, is }) => was.live.v1Name !== is.live.v1Name);
  return [
    ...dropped.map((network) => change('dropped', 'breaks', named(network, added), undefined)),
    ...added.map((network) => change('added', 'harmless', undefined, named(network, dropped))),
    // Clients of version 1 of x402 know a network by this name alone.
    ...renamed.map(({ was: { live: old }, is: { id, live: now } }) =>
      change(`${id}: v1Name`, old.v1Name === undefined ? 'harmless' : 'breaks', old.v1Name, now.v1Name),
    ),
  ];
}

const change = (
  what: string,
  effect: Change['effect'],
  before: string | undefined,
  after: string | undefined,
): NetworkChange => ({ about: 'network', what, effect, before, after });
