/** The free documents that tell what is sold, all made from the same routes. */
import type { Network, NetworkId, Route, ServiceFile } from '../../catalogue/types.ts';
import type { Money } from '../../money.ts';
import type { MppOffer } from '../../rails/mpp/rail.ts';
import { type Document, makeDocument } from './document.ts';
import { icon } from './icon.ts';
import { llmsText } from './llms.ts';
import { mppOpenApi } from './openapi-mpp.ts';
import { x402OpenApi } from './openapi-x402.ts';
import { resourceList } from './resources.ts';
import { wellKnownX402 } from './well-known.ts';

export interface DocumentParts {
  readonly service: ServiceFile;
  /** Those that can be served: an endpoint without its upstream's key is not among them. */
  readonly routes: readonly Route[];
  /** Those with a pay-to address. */
  readonly networks: ReadonlyMap<NetworkId, Network>;
  readonly payTo: (network: Network) => string | undefined;
  readonly mode: 'live' | 'sandbox';
  /** Origin under which callers reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** How an MPP route can be paid; none: it is left out. */
  readonly mppOffers: (route: Route, amount: Money) => readonly MppOffer[];
}

/** Files in `/media` belong to whoever bought them. */
const ROBOTS = `# Agents start at /llms.txt
User-agent: *
Allow: /
Disallow: /media/
`;

/** Path -> document. */
export function createDocuments(parts: DocumentParts): ReadonlyMap<string, Document> {
  const { service, routes, networks, payTo, mode, publicUrl, mppOffers } = parts;
  const payable = { networks, payTo, mode };
  const mpp = routes.filter((route) => route.rail === 'mpp' && mppOffers(route, route.listing.price).length > 0);
  const plain = (text: string) => makeDocument(text, 'text/plain; charset=utf-8');
  const picture = makeDocument(icon, 'image/svg+xml');
  return new Map([
    ['/x402-resources', makeDocument(resourceList(routes, payable))],
    ['/.well-known/x402', makeDocument(wellKnownX402(service, routes, payable, publicUrl))],
    ['/openapi.json', makeDocument(mppOpenApi(service, mpp, publicUrl, mppOffers))],
    ['/openapi/x402.json', makeDocument(x402OpenApi(service, routes, payable, publicUrl))],
    ['/llms.txt', plain(llmsText(service, routes, mpp, payable, publicUrl))],
    ['/robots.txt', plain(ROBOTS)],
    ['/icon.svg', picture],
    ['/favicon.ico', picture],
  ]);
}
