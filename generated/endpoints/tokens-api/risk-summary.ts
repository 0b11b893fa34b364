// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The risk of a token
 */
export interface Result {
  /**
   * 0 (worst) to 100
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
   * How to show it
   */
  tone: 'info' | 'success' | 'warning' | 'danger' | null;
  /**
   * Whether it was launched in a way that is trusted
   */
  isTrustedLaunch?: boolean;
  /**
   * Whether there is too little data for a score
   */
  hasInsufficientData?: boolean;
  /**
   * Rules that held the score down
   */
  caps?: unknown[];
  /**
   * What is missing
   */
  insufficientDataReason?: string | null;
  [k: string]: unknown;
}

export interface Request {
  /**
   * A token's mint address, in base58
   */
  mint: string;
}
