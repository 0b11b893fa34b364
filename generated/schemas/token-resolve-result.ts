// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The asset and variant that a mint or reference stands for
 */
export interface TokenResolveResult {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * How the reference was understood
   */
  resolvedBy?: string;
  /**
   * Mint address of the variant
   */
  mint?: string | null;
  /**
   * The asset
   */
  asset: {
    /**
     * Full name
     */
    name: string | null;
    /**
     * Ticker
     */
    symbol: string | null;
    /**
     * What sort of asset it is
     */
    category: string | null;
    /**
     * Other names it answers to
     */
    aliases: string[];
    [k: string]: unknown;
  };
  /**
   * The variant that was meant, or null where the asset as a whole was
   */
  variant: {
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
}
