import type { Gateway } from '../gateway.ts';

/** The page on which what is sold at a path is bought, with its form filled in. */
export const purchaseOf = (gateway: Pick<Gateway, 'url'>, path: string, fields: Record<string, string>): string =>
  `${gateway.url}/endpoints${path}?${new URLSearchParams(fields)}`;
