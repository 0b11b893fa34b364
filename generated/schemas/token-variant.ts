// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * One form of an asset on one chain
 */
export interface TokenVariant {
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
}
