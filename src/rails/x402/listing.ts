/**
 * What a resource says of the service that sells it, for indexes of paid endpoints (Bazaar). Source: x402 specification
 * version 2, `ResourceInfo`.
 */
import type { Route } from '../../catalogue/types.ts';

export interface ResourceListing {
  /** Left out where the service's name has no character that indexes take. */
  readonly serviceName?: string;
  readonly tags: readonly string[];
  readonly iconUrl: string;
}

/** `publicUrl` without a trailing slash. */
export function resourceListing(
  { endpoint: { listing } }: Pick<Route, 'endpoint'>,
  publicUrl: string,
): ResourceListing {
  const { serviceName, tags, icon } = listing;
  return {
    ...(serviceName !== undefined && { serviceName }),
    tags,
    iconUrl: icon ?? `${publicUrl}/icon.svg`,
  };
}
