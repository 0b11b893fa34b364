// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * An answer in text
 */
export interface TieredTextResult {
  /**
   * The answer
   */
  text: string;
  /**
   * The model that answered
   */
  model: string;
  /**
   * The tier that was paid for
   */
  tier: 'small' | 'medium' | 'large';
  /**
   * Tokens used
   */
  usage: {
    /**
     * Tokens read
     */
    input_tokens: number;
    /**
     * Tokens written, reasoning included
     */
    output_tokens: number;
    [k: string]: unknown;
  };
  /**
   * How the answer was made
   */
  metadata: {
    /**
     * Why the model stopped; length means at the tier's ceiling
     */
    finish_reason?: string;
    /**
     * The provider's own id of the answer
     */
    upstream_id?: string;
    /**
     * Output tokens spent on reasoning
     */
    reasoning_tokens?: number;
    /**
     * True where a sandbox answered
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
