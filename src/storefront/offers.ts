/** What the pages show: every endpoint that is sold, with all the ways to it. */
import type { Endpoint, Route } from '../catalogue/types.ts';
import { type Payable, type PayableNetwork, payableOn } from '../discovery/payable.ts';

/** Below it each endpoint has a page at its own path. */
export const PAGES_PATH = '/endpoints';

/** Where the page of what is sold at a path is. */
export const pageOf = (path: string): string => `${PAGES_PATH}${path}`;

export interface Offer {
  readonly endpoint: Endpoint;
  /** What is listed of it. */
  readonly base: Route;
  readonly mirrors: readonly Route[];
  /** The same, sold by operation on rails that have paths of their own. */
  readonly operations: readonly Route[];
}

/** The endpoints in the catalogue's order. */
export function offersOf(routes: readonly Route[]): Offer[] {
  const byEndpoint = new Map<Endpoint, Route[]>();
  for (const route of routes) byEndpoint.set(route.endpoint, [...(byEndpoint.get(route.endpoint) ?? []), route]);
  return [...byEndpoint].flatMap(([endpoint, own]): Offer[] => {
    const base = own.find(({ kind }) => kind === 'base') ?? own[0];
    if (!base) return [];
    const others = own.filter((route) => route !== base);
    return [
      {
        endpoint,
        base,
        mirrors: others.filter(({ kind }) => kind !== 'operation'),
        operations: others.filter(({ kind }) => kind === 'operation'),
      },
    ];
  });
}

/** Where any of its routes can be paid, each network once. */
export function networksOf({ base, mirrors }: Offer, payable: Payable): PayableNetwork[] {
  const found = [base, ...mirrors].flatMap((route) => payableOn(route, payable));
  return [...new Map(found.map((each) => [each.network.id, each])).values()];
}
