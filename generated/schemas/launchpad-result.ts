// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Tokens of a launchpad that draw attention
 */
export interface LaunchpadResult {
  /**
   * What the themes are and how they move
   */
  summary: string;
  /**
   * Ideas for new tokens
   *
   * @minItems 3
   * @maxItems 3
   */
  suggestions: {
    /**
     * The idea
     */
    idea: string;
    /**
     * Address of the listed token that it takes after
     */
    reference_ca: string;
    /**
     * Why it may work
     */
    reason: string;
    [k: string]: unknown;
  }[];
  /**
   * The tokens
   */
  trending_tokens: {
    /**
     * Its logo
     */
    icon: string | null;
    /**
     * Name
     */
    name: string;
    /**
     * Ticker
     */
    ticker: string;
    /**
     * Market capitalisation in US dollars, such as $1.2M
     */
    mc: string | null;
    /**
     * Contract address
     */
    ca: string;
    /**
     * Its pages
     */
    social: {
      /**
       * Its account on X
       */
      twitter: string | null;
      /**
       * Its website
       */
      website: string | null;
      [k: string]: unknown;
    };
    /**
     * Price change in percent; null where there was no trade
     */
    '5mpricechange'?: number | null;
    /**
     * Price change in percent; null where there was no trade
     */
    '1hpricechange'?: number | null;
    /**
     * Price change in percent; null where there was no trade
     */
    '6hpricechange'?: number | null;
    /**
     * Price change in percent; null where there was no trade
     */
    '24hpricechange'?: number | null;
    /**
     * What the logo shows; may be empty
     */
    icon_description: string;
    [k: string]: unknown;
  }[];
  /**
   * How many tokens are listed
   */
  count: number;
  [k: string]: unknown;
}
