// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Prices over time
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * Length of a candle
   */
  interval?: string | null;
  /**
   * Start, in seconds since 1970
   */
  from?: number | null;
  /**
   * End, in seconds since 1970
   */
  to?: number | null;
  /**
   * The oldest first
   *
   * Items: Prices in US dollars over one interval
   */
  candles: {
    /**
     * Start, in seconds since 1970
     */
    time: number;
    /**
     * First price
     */
    open: number;
    /**
     * Highest price
     */
    high: number;
    /**
     * Lowest price
     */
    low: number;
    /**
     * Last price
     */
    close: number;
    /**
     * Traded volume
     */
    volume?: number | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
}
