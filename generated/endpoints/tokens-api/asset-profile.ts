// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The profile of an asset
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The profile, or with ok false why there is none
   */
  profile: {
    /**
     * True where there is a profile
     */
    ok: boolean;
    /**
     * Why there is none
     */
    reason?: string;
    /**
     * Figures in US dollars
     */
    data?: {
      /**
       * Market capitalisation
       */
      marketCap?: number | null;
      /**
       * Market capitalisation if all units were out
       */
      fdv?: number | null;
      /**
       * Units in circulation
       */
      circulatingSupply?: number | null;
      /**
       * Units in existence
       */
      totalSupply?: number | null;
      /**
       * Price of one unit
       */
      price?: number | null;
      /**
       * Price change in 24 hours in percent
       */
      priceChange24h?: number | null;
      /**
       * Volume in 24 hours
       */
      volume24h?: number | null;
      /**
       * Highest price ever
       */
      allTimeHigh?: number | null;
      /**
       * When that was
       */
      allTimeHighDate?: string | null;
      /**
       * What the asset is
       */
      description?: string | null;
      /**
       * Its pages: website, social media
       */
      links?: {
        [k: string]: unknown;
      } | null;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
}
