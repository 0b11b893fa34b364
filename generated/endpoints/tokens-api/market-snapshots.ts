// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * One row a token
 */
export type Result = {
  /**
   * Mint address
   */
  address: string;
  /**
   * Whether it is traded
   */
  hasMarket?: boolean;
  /**
   * Figures in US dollars; null where nothing is known
   */
  token?: {
    /**
     * Ticker
     */
    symbol?: string | null;
    /**
     * Full name
     */
    name?: string | null;
    /**
     * Decimals of the token
     */
    decimals?: number | null;
    /**
     * Price of one unit
     */
    price?: number | null;
    /**
     * Liquidity of its markets
     */
    liquidity?: number | null;
    /**
     * Volume in 24 hours
     */
    volume24hUSD?: number | null;
    /**
     * Market capitalisation
     */
    marketCap?: number | null;
    /**
     * Price change in 24 hours
     */
    priceChange24hPercent?: number | null;
    /**
     * Price change in an hour
     */
    priceChange1hPercent?: number | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}[];

export interface Request {
  /**
   * Mint addresses, at most 250, as a list or as one text with commas between
   */
  mints: string[] | string;
}
