// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenDiscoveryResult as Result } from '../../schemas/token-discovery-result.ts';

export interface Request {
  /**
   * What to look for
   */
  action: 'hot_tokens' | 'top_movers' | 'search';
  /**
   * What to search for: name, symbol or address
   */
  keyword?: string;
  /**
   * Most rows
   */
  limit: number;
}
