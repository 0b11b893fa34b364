// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Markets
   *
   * Items: A market, or one outcome of a market with several
   */
  markets: {
    /**
     * The venue's number of the market
     */
    id: number;
    /**
     * What market-intel takes as market_id
     */
    slug: string;
    /**
     * The question; outcomes of a group carry the group's title before their own
     */
    title: string;
    /**
     * Name of its first category
     */
    category: string | null;
    /**
     * The category that was asked for; the venue tells no other
     */
    category_id: number | null;
    /**
     * When it ends, ISO 8601
     */
    deadline: string | null;
    /**
     * What a share of YES costs, from 0 to 1
     */
    yes_price: number | null;
    /**
     * What a share of NO costs, from 0 to 1
     */
    no_price: number | null;
    /**
     * Traded so far in the collateral token
     */
    volume: number | null;
    /**
     * The same in the token's smallest unit
     */
    volume_raw: string | null;
    /**
     * Liquidity in the collateral token; pools only
     */
    liquidity: number | null;
    /**
     * The token that is paid in and out
     */
    collateral_token: string | null;
    [k: string]: unknown;
  }[];
  /**
   * The page that was asked for
   */
  page: number;
  /**
   * The limit that was asked for
   */
  limit: number;
  /**
   * The next page; null on the last one
   */
  next_page: number | null;
  [k: string]: unknown;
}

export interface Request {
  /**
   * Only this category
   */
  category_id?: number;
  /**
   * Markets on a page
   */
  limit: number;
  /**
   * Page counted from 1
   */
  page: number;
}
