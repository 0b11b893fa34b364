/** `GET /.well-known/x402`: the addresses of everything sold over x402, and who owns the origin. */
import type { Route, ServiceFile } from '../../../catalogue/types.ts';
import { type Payable, payableOn } from '../../../discovery/payable.ts';

export interface WellKnownX402 {
  readonly version: 1;
  readonly resources: readonly string[];
  /** The bare origin signed by pay-to keys: EIP-191 in hex, or ed25519 in base58. */
  readonly ownershipProofs: readonly string[];
  readonly instructions: string;
}

/** `publicUrl` without a trailing slash. */
export function wellKnownX402(
  service: ServiceFile,
  routes: readonly Route[],
  payable: Payable,
  publicUrl: string,
): WellKnownX402 {
  const sold = routes.filter((route) => payableOn(route, payable).length > 0);
  return {
    version: 1,
    resources: sold.map(({ path }) => publicUrl + path),
    ownershipProofs: service.ownershipProofs ?? [],
    instructions: service.instructions,
  };
}
