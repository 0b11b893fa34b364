// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Always true
   */
  success: boolean;
  /**
   * The account, without @
   */
  x_username: string;
  /**
   * The news
   */
  trending_news: {
    /**
     * At most four words
     */
    title: string;
    /**
     * A post about it
     */
    tweet_draft: string;
    /**
     * A 16:9 image to go with it
     */
    banner_url: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * A username on X, with or without @
   */
  x_username: string;
  /**
   * The account whose style the post mimics
   */
  x_persona?: string;
}
