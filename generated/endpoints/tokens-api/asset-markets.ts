// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Markets of one variant
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The variant that is traded
   */
  mint?: string | null;
  /**
   * Figures in US dollars
   */
  markets: {
    /**
     * Address of the market
     */
    address: string;
    /**
     * Its name
     */
    name?: string | null;
    /**
     * The exchange that it belongs to
     */
    source?: string | null;
    /**
     * The token that is priced: address, symbol, name
     */
    base?: {
      [k: string]: unknown;
    } | null;
    /**
     * The token that it is priced in: address, symbol, name
     */
    quote?: {
      [k: string]: unknown;
    } | null;
    /**
     * Price of one unit
     */
    price?: number | null;
    /**
     * Liquidity
     */
    liquidity?: number | null;
    /**
     * Volume in 24 hours
     */
    volume24h?: number | null;
    /**
     * Trades in 24 hours
     */
    trade24h?: number | null;
    [k: string]: unknown;
  }[];
  /**
   * Address of a market: the exchange's own token
   */
  protocolTokensByMarket?: {
    [k: string]: unknown;
  };
  /**
   * Markets there are
   */
  total?: number | null;
  /**
   * Markets left out at the start
   */
  offset?: number;
  /**
   * Most markets of this page
   */
  limit?: number;
  /**
   * When they were read, in milliseconds since 1970
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
   * The variant that is traded; the one traded most unless given
   */
  mint?: string;
  /**
   * Entries to leave out at the start
   */
  offset: number;
  /**
   * Most entries
   */
  limit: number;
}
