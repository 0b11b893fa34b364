import type { Asset } from '../../client/asset.ts';
import type { JsonObject } from '../../json.ts';

/** One path as its callers see it. */
export interface SoldPath {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly summary: string;
  /** `0.05 USD`, or `0.06 to 0.15 USD`. */
  readonly price: string;
  /** JSON Schemas; nobody vouches for them. */
  readonly request: JsonObject;
  readonly result: JsonObject;
  /** True where the answer is text/event-stream. */
  readonly streams: boolean;
}

/** What a typed client is made of. */
export interface Sold {
  /** Origin of the gateway. */
  readonly url: string;
  readonly paths: readonly SoldPath[];
  /** What may be signed for there. */
  readonly assets: readonly Asset[];
}
