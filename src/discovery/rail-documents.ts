import type { Network, NetworkId, Route, ServiceFile } from '../catalogue/types.ts';
import type { Document } from './document.ts';
import type { RailOpenApi } from './openapi.ts';

/** What documents are made of. */
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
}

/** The same for one rail. */
export interface RailDocumentParts extends DocumentParts {
  /** Those of the rail. */
  readonly routes: readonly Route[];
  /** What paths on other rails begin with. */
  readonly otherPrefixes: readonly string[];
}

/** A document at a path, and what `/llms.txt` says of it in one line. */
export interface RailDocument {
  readonly path: string;
  readonly summary: string;
  readonly document: Document;
}

/** What a rail adds to the discovery documents. */
export interface RailDocuments {
  readonly openApi: RailOpenApi;
  /** Documents that this rail alone has. */
  readonly documents: readonly RailDocument[];
  /** Sections of `/llms.txt`, line by line: how to pay, and what is sold. Empty where nothing can be bought. */
  readonly llms: { readonly paying: readonly string[]; readonly sold: readonly string[] };
}
