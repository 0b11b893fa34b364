// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A news draft
 */
export interface Result {
  /**
   * Always true
   */
  success: boolean;
  /**
   * Mint address of the token
   */
  mint: string;
  /**
   * Its name
   */
  token: string;
  /**
   * Its ticker
   */
  ticker: string;
  /**
   * The draft
   */
  trending_news: {
    /**
     * A headline, at most four words
     */
    title: string;
    /**
     * A post, at most 280 characters
     */
    tweet_draft: string;
    /**
     * An image 16:9
     */
    banner_url: string;
    [k: string]: unknown;
  };
  /**
   * Articles that the draft rests on; empty where there is no news
   */
  sources: {
    /**
     * The headline
     */
    title: string;
    /**
     * Where it is
     */
    url: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * A mint address, symbol or name
   */
  token: string;
}
