// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * The market as the venue tells it
   */
  market: {
    /**
     * The venue's number of the market
     */
    id: number;
    /**
     * The market_id
     */
    slug: string;
    /**
     * The question
     */
    title: string;
    /**
     * What a share of YES costs, from 0 to 1
     */
    yes_price: number | null;
    /**
     * What a share of NO costs, from 0 to 1
     */
    no_price: number | null;
    /**
     * Traded so far in the collateral token
     */
    volume: number | null;
    /**
     * When it ends, ISO 8601
     */
    deadline: string | null;
    [k: string]: unknown;
  };
  /**
   * What to buy
   */
  recommendation: 'YES' | 'NO' | 'PASS';
  /**
   * The model's confidence
   */
  confidence: number;
  /**
   * Why
   */
  thesis: string;
  /**
   * What it rests on, the weightiest first
   *
   * @maxItems 5
   */
  key_signals: {
    /**
     * market price, market volume, order book, or the site that was found
     */
    source: string;
    /**
     * What it says
     */
    signal: string;
    /**
     * How much it moved the estimate
     */
    weight: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * The slug of a market from market-list
   */
  market_id: string;
}
