// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Candles of one variant
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The variant
   */
  mint: string | null;
  /**
   * Length of a candle
   */
  interval: string;
  /**
   * Start, in seconds since 1970
   */
  from?: number;
  /**
   * End, in seconds since 1970
   */
  to?: number;
  /**
   * The oldest first; empty until the provider has read them
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
  /**
   * The variant; the one traded most unless given
   */
  mint?: string;
  /**
   * Length of a candle
   */
  interval: '1m' | '5m' | '15m' | '1H' | '4H' | '1D' | '1W';
  /**
   * First candle, in seconds since 1970; 7 days before the end unless given. At most 10,000 candles, the latest, are answered
   */
  from?: number;
  /**
   * Last candle, in seconds since 1970; now unless given
   */
  to?: number;
}
