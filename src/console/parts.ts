import type { Catalogue, Network, Route } from '../catalogue/types.ts';
import type { ApiKeys } from '../credits/api-keys.ts';
import type { Money } from '../money.ts';
import type { NamedFacilitator, PayableNetworks } from '../payment/networks.ts';
import type { Store } from '../store/store.ts';

/** What the console reads and does. */
export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live';
  readonly store: Store;
  readonly networks: Pick<PayableNetworks, 'find'>;
  readonly facilitators: readonly NamedFacilitator[];
  readonly apiKeys: Pick<ApiKeys, 'create'>;
  /** What is sold now, and what is not for want of a key: route -> missing variables. */
  catalogue(): Catalogue;
  sold(): readonly Route[];
  missing(): ReadonlyMap<Route, readonly string[]>;
  /** Upstream -> whether it is not asked for a while. */
  circuits(): ReadonlyMap<string, boolean> | Promise<ReadonlyMap<string, boolean>>;
  payTo(network: Network): string | undefined;
  /** What the catalogue's files say; undefined where that is sold already. Throws CatalogueErrors. */
  pending(): Catalogue | undefined;
  /** Sells what the files say. Throws CatalogueErrors and ReloadRefused. */
  reload(): Promise<Catalogue | undefined>;
  /** True for those two. */
  isRefusal(error: unknown): error is Error;
  /** What keys have left. */
  liability(): Promise<Money>;
  /** Adds to the store what has been counted of calls. */
  flush(): Promise<void>;
}
