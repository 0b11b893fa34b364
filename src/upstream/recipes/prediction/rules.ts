import type { Market } from '../../providers/limitless/market.ts';

/**
 * What a market says of itself, without its tags; undefined where it says nothing. Whoever made it wrote that: a tag ends where
 * another begins, so that thousands of which none ends are looked through once.
 */
export const rulesOf = ({ description }: Pick<Market, 'description'>): string | undefined =>
  description?.replaceAll(/<[^<>]*>/g, ' ');
