// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Prices in US dollars over one interval
 */
export interface Candle {
  /**
   * Start, in seconds since 1970
   */
  time: number;
  /**
   * First price
   */
  open: number;
  /**
   * Highest price
   */
  high: number;
  /**
   * Lowest price
   */
  low: number;
  /**
   * Last price
   */
  close: number;
  /**
   * Traded volume
   */
  volume?: number | null;
  [k: string]: unknown;
}
