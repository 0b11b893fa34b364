// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The market of one variant
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The variant
   */
  mint?: string | null;
  /**
   * Price of one unit in US dollars; null where there is no market
   */
  price: number | null;
  /**
   * Liquidity of its markets in US dollars
   */
  liquidity: number | null;
  /**
   * Volume in 24 hours in US dollars
   */
  volume: number | null;
  /**
   * Market capitalisation in US dollars
   */
  marketCap: number | null;
  /**
   * Price change in 24 hours in percent
   */
  priceChange: number | null;
  /**
   * The same as priceChange
   */
  priceChange24hPercent?: number | null;
  /**
   * Price change in an hour in percent
   */
  priceChange1hPercent?: number | null;
  /**
   * Market figures of one variant in US dollars, changes in percent; null where there are none yet
   */
  market: {
    /**
     * Price of one unit
     */
    price?: number | null;
    /**
     * Liquidity of its markets
     */
    liquidity?: number | null;
    /**
     * Volume in 24 hours
     */
    volume24hUSD?: number | null;
    /**
     * Market capitalisation
     */
    marketCap?: number | null;
    /**
     * Price change in 24 hours
     */
    priceChange24hPercent?: number | null;
    /**
     * Price change in an hour
     */
    priceChange1hPercent?: number | null;
    /**
     * Decimals of the token
     */
    decimals?: number | null;
    /**
     * Its icon
     */
    logoURI?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * When it was read, in milliseconds since 1970
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
   * The variant; the one traded most unless given
   */
  mint?: string;
}
