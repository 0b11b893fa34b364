// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The risk of one variant of an asset
 */
export interface Result {
  /**
   * Canonical id of the asset
   */
  assetId: string;
  /**
   * The variant that was judged
   */
  mint?: string | null;
  /**
   * 0 (worst) to 100; null where risk.ok is false
   */
  score: number | null;
  /**
   * A (best) to F
   */
  grade: string | null;
  /**
   * The grade in words
   */
  label: string | null;
  /**
   * info, success, warning or danger
   */
  tone: string | null;
  /**
   * True where the token comes from a launch that is trusted
   */
  isTrustedLaunch: boolean | null;
  /**
   * True where too little is known for a score
   */
  hasInsufficientData: boolean | null;
  /**
   * The score, or with ok false why there is none
   */
  risk: {
    /**
     * True where there is a score
     */
    ok: boolean;
    /**
     * A score of how risky the token's market is
     */
    marketScore?: {
      /**
       * 0 (worst) to 100
       */
      score?: number | null;
      /**
       * A (best) to F
       */
      grade?: string | null;
      /**
       * The grade in words
       */
      label?: string | null;
      /**
       * info, success, warning or danger
       */
      tone?: string | null;
      /**
       * True where the token comes from a launch that is trusted
       */
      isTrustedLaunch?: boolean;
      /**
       * True where too little is known for a score
       */
      hasInsufficientData?: boolean;
      [k: string]: unknown;
    };
    /**
     * The figures that the score was made from; in the details only
     */
    marketScoreInput?: {
      [k: string]: unknown;
    };
    /**
     * What else is known of the token
     */
    tags?: string[];
    /**
     * When it was scored, in milliseconds since 1970
     */
    lastUpdatedAt?: number | null;
    /**
     * Why there is no score
     */
    reason?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
  /**
   * The variant to judge; the one traded most unless given
   */
  mint?: string;
}
