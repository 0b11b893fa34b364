// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Markets of variants
 */
export interface Result {
  /**
   * One entry an address, in the order of the request without repetitions
   */
  variants: {
    /**
     * Mint address
     */
    mint: string;
    /**
     * Canonical id of its asset
     */
    assetId?: string | null;
    /**
     * The chain it lives on; null where the address is not known
     */
    chain?: string | null;
    /**
     * Market figures of one variant in US dollars, changes in percent; null where there are none yet
     */
    market?: {
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
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * Mint addresses, at most 50, as a list or as one text with commas between
   */
  mints: string[] | string;
}
