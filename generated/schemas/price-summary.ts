// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * What the results cost
 */
export interface PriceSummary {
  /**
   * Lowest price; null where nothing has a price
   */
  min: number | null;
  /**
   * Highest price
   */
  max: number | null;
  /**
   * Middle price, of an even number the mean of the middle two
   */
  median: number | null;
  /**
   * The currency of these three, that of most results
   */
  currency: string | null;
  /**
   * Results left out because they have no price or another currency
   */
  left_out: number;
  [k: string]: unknown;
}
