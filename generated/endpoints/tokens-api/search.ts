// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenSearchResult as Result } from '../../schemas/token-search-result.ts';

export interface Request {
  /**
   * A name, symbol or mint address
   */
  q: string;
  /**
   * Most results
   */
  limit: number;
  /**
   * Only assets of this category
   */
  category?: string;
}
