// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Listings of an asset
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * Figures in US dollars
   */
  tickers: {
    /**
     * The exchange
     */
    exchange?: string | null;
    /**
     * What is traded for what
     */
    pair?: string | null;
    /**
     * Last price
     */
    price?: number | null;
    /**
     * Volume in 24 hours
     */
    volume24hUSD?: number | null;
    [k: string]: unknown;
  }[];
  /**
   * Listings there are
   */
  total?: number | null;
  /**
   * Listings left out at the start
   */
  offset?: number;
  /**
   * Most listings of this page
   */
  limit?: number;
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
  /**
   * Entries to leave out at the start
   */
  offset: number;
  /**
   * Most entries
   */
  limit: number;
  /**
   * By volume; in the order that they are kept in unless given
   */
  order?: 'volume_desc';
}
