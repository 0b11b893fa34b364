// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The variants of an asset
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * What they are ordered by
   */
  sortBy?: string;
  /**
   * The most liquid first
   *
   * Items: One form of an asset on one chain, with its market
   */
  variants: {
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
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
  /**
   * Only variants of this sort
   */
  kind?:
    | 'native'
    | 'wrapped'
    | 'bridged'
    | 'lst'
    | 'stablecoin'
    | 'etf'
    | 'yield'
    | 'leveraged'
    | 'basket'
    | 'tokenized_equity';
  /**
   * Only variants of this tier
   */
  trustTier?: 'tier1' | 'tier2' | 'experimental';
}
