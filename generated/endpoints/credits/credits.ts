// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * The new API key in clear; only where this payment made it
   */
  api_key?: string;
  /**
   * The first characters of the key that was credited
   */
  key: string;
  /**
   * Dollars bought
   */
  credited_usd: string;
  /**
   * Dollars that the key can spend, with what was bought
   */
  balance_usd: string;
  [k: string]: unknown;
}

export interface Request {
  /**
   * Dollars to buy and to pay, from 0.01 to 1000: a decimal string such as 5 or 12.50
   */
  amount_usd: string;
  /**
   * The API key to top up; left out, a new one is made
   */
  api_key?: string;
}
