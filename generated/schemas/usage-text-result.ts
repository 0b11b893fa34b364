// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * An answer in text
 */
export interface UsageTextResult {
  /**
   * The answer
   */
  text: string;
  /**
   * The model that answered
   */
  model: string;
  /**
   * Tokens used
   */
  usage: {
    /**
     * Tokens read
     */
    prompt_tokens: number;
    /**
     * Tokens written, reasoning included
     */
    completion_tokens: number;
    /**
     * Tokens read and written
     */
    total_tokens: number;
    [k: string]: unknown;
  };
  /**
   * How the answer was made
   */
  metadata?: {
    /**
     * Why the model stopped; length means at max_tokens
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
     * Fields of the request that the model does not take and that were left out
     */
    ignored?: string[];
    /**
     * True where a sandbox answered
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
