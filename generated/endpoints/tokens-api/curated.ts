// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A curated list
 */
export interface Result {
  /**
   * The list
   */
  listId?: string;
  /**
   * The largest volume first
   *
   * Items: An asset with its market figures
   */
  assets: {
    /**
     * Canonical id of the asset
     */
    assetId: string;
    /**
     * Full name
     */
    name?: string | null;
    /**
     * Ticker
     */
    symbol?: string | null;
    /**
     * What sort of asset it is
     */
    category?: string | null;
    /**
     * Its logo
     */
    imageUrl?: string | null;
    /**
     * Market figures in US dollars, changes in percent; null where there are none yet
     */
    stats?: {
      /**
       * Price of one unit
       */
      price?: number | null;
      /**
       * Liquidity over all variants
       */
      liquidity?: number | null;
      /**
       * Volume in 24 hours
       */
      volume?: number | null;
      /**
       * Market capitalisation
       */
      marketCap?: number | null;
      /**
       * Price change in 24 hours
       */
      priceChange?: number | null;
      /**
       * The same as volume
       */
      volume24hUSD?: number | null;
      /**
       * The same as priceChange
       */
      priceChange24hPercent?: number | null;
      /**
       * Price change in an hour
       */
      priceChange1hPercent?: number | null;
      [k: string]: unknown;
    } | null;
    /**
     * The variant that is traded most
     */
    primaryVariant?: {
      /**
       * Mint address
       */
      mint: string;
      /**
       * Ticker of the variant
       */
      symbol?: string;
      /**
       * Name of the variant
       */
      name?: string;
      /**
       * The chain it lives on
       */
      chain?: string;
      /**
       * native, wrapped, bridged, lst, stablecoin and others
       */
      kind?: string;
      /**
       * tier1, tier2 or experimental
       */
      trustTier?: string;
      /**
       * How liquid its markets are
       */
      liquidityTier?: string;
      /**
       * What else is known of it
       */
      tags?: string[];
      /**
       * A warning against the variant, with status and reason
       */
      advisory?: {
        [k: string]: unknown;
      } | null;
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
    } | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * A list, or all of them
   */
  list: 'all' | 'majors' | 'lsts' | 'currencies' | 'rwas' | 'etfs' | 'metals' | 'stocks';
  /**
   * One row an asset or one a mint address
   */
  groupBy: 'asset' | 'mint';
}
