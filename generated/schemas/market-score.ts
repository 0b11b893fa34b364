// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A score of how risky the token's market is
 */
export interface MarketScore {
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
}
