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
     * What is traded
     */
    base?: string | null;
    /**
     * What it is priced in on that exchange
     */
    target?: string | null;
    /**
     * Last price
     */
    price?: number | null;
    /**
     * Volume in 24 hours
     */
    volume24hUSD?: number | null;
    /**
     * Between bid and ask in percent
     */
    spreadPercent?: number | null;
    /**
     * Where it is traded
     */
    tradeUrl?: string | null;
    /**
     * green, yellow or red; null where nobody has judged
     */
    trustScore?: string | null;
    /**
     * True where nothing was traded lately
     */
    isStale?: boolean;
    /**
     * True where the figures look wrong
     */
    isAnomaly?: boolean;
    /**
     * When it was read, ISO 8601
     */
    timestamp?: string | null;
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
  /**
   * When the listings were read, in milliseconds since 1970
   */
  lastUpdatedAt?: number | null;
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
