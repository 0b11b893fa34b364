/** What pages are made of. */
import type { Route, ServiceFile } from '../../catalogue/types.ts';
import type { Payable } from '../../discovery/payable.ts';
import type { PriceOf } from '../price-points.ts';

export interface PageParts extends Payable {
  readonly service: ServiceFile;
  /** Those that can be served. */
  readonly routes: readonly Route[];
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** Whether a model is sold to talk with. */
  readonly hasChat: boolean;
  readonly priceOf: PriceOf;
  /** Names of files that examples of results name and that can be shown. */
  readonly samples: ReadonlySet<string>;
  /** The name of the tool that sells the same; undefined where the door for tools is closed. */
  toolOf(route: Route): string | undefined;
}
