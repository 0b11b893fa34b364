// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Assets that match a query, the best match first
 */
export interface TokenSearchResult {
  /**
   * What was searched for
   */
  query: string;
  /**
   * The category searched in
   */
  category?: string | null;
  /**
   * Assets
   */
  results: {
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
     * Market figures in US dollars, price changes in percent
     */
    stats?: {
      price?: number | null;
      liquidity?: number | null;
      /**
       * In the last 24 hours
       */
      volume?: number | null;
      marketCap?: number | null;
      /**
       * In the last 24 hours
       */
      priceChange?: number | null;
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
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
