/**
 * The identity of one EIP-3009 authorization: what the token itself remembers of it. It is the same on both rails, so
 * that one authorization cannot buy a call on each.
 */
export const eip3009Id = (caip2: string, asset: string, from: string, nonce: string): string =>
  `eip3009:${caip2}:${asset}:${from}:${nonce}`.toLowerCase();
