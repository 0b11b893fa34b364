// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * The largest edge first
   */
  opportunities: {
    /**
     * What market-intel takes
     */
    market_id: string;
    /**
     * The question
     */
    title: string;
    /**
     * What to buy
     */
    recommendation: 'YES' | 'NO';
    /**
     * The model's confidence
     */
    confidence: number;
    /**
     * Estimate minus price in hundredths of a percent
     */
    edge_bps: number;
    /**
     * Why
     */
    thesis_short: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * Only this category, an id from the categories of market-list; left out all
   */
  category_id?: number;
  /**
   * Most opportunities
   */
  limit: number;
  /**
   * Leave out estimates with less confidence
   */
  min_confidence: number;
}
