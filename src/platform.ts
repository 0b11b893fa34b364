import type { Router } from 'express';
import type { Catalogue, Network, Upstream } from './catalogue/types.ts';
import type { ApiKeys } from './credits/api-keys.ts';
import type { Variables } from './environment.ts';
import type { NamedFacilitator } from './payment/networks.ts';
import type { NonceStore } from './store/nonce-store.ts';
import type { Resolve } from './upstream/http/public-url.ts';

/** What differs between live mode and the sandbox. The app does not know which of the two it runs in. */
export interface Platform {
  readonly mode: 'live' | 'sandbox';
  /** Undefined: the network is not offered. */
  payTo(network: Network): string | undefined;
  /** Undefined: the one in `networks.yaml`. */
  rpcUrl(network: Network): string | undefined;
  /** In the order of preference. */
  readonly facilitators: readonly NamedFacilitator[];
  /** Where the rails read their settings. */
  readonly variables: Variables;
  /** A secret of an upstream by its environment variable's name. */
  secretOf(variable: string, upstream: Upstream): string | undefined;
  /** Where an upstream is reached instead of its own address. */
  baseUrlOf?(upstream: Upstream): string | undefined;
  /** Origins from which files may be read although they are not public. */
  readonly trustedOrigins: readonly string[];
  /** How hostnames of callers' URLs are looked up; undefined: by the system. */
  readonly resolve: Resolve | undefined;
  /** Where a URL is read instead of on the internet, once it has been found to be public. */
  readFrom?(url: URL, options: { upstream: string; givenBy: 'caller' | 'provider' }): URL | undefined;
  /** PEM of the certificate that proofs of attested hardware have to lead to. */
  readonly attestationRoot: string;
  /** Routes that only this mode has, mounted at `/sandbox`. */
  readonly routes: Router | undefined;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called before another catalogue is sold. */
  prepare?(catalogue: Catalogue): Promise<void>;
  /** Called when the store is open and before the first request; `nonces` are in the store. */
  opened?(credits: ApiKeys, nonces: NonceStore): Promise<void>;
  /** Stops what was started for it. */
  stop(): Promise<void>;
}
