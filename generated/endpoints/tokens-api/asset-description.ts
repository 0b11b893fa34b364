// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A description
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The variant that is described
   */
  mint?: string | null;
  /**
   * Null where nobody has written one
   */
  description: {
    /**
     * The description
     */
    summary?: string | null;
    /**
     * When it was written, in milliseconds since 1970
     */
    generatedAt?: number | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
  /**
   * The variant to describe; the one traded most unless given
   */
  mint?: string;
}
