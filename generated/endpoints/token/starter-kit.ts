// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * What a new token needs
 */
export interface Result {
  /**
   * Name
   */
  token_name: string;
  /**
   * Ticker in capitals
   */
  token_ticker: string;
  /**
   * Description in two or three sentences
   */
  token_description: string;
  /**
   * The logo 1:1
   */
  logo_url: string;
  /**
   * The banner 21:9
   */
  banner_url: string;
  [k: string]: unknown;
}

export interface Request {
  /**
   * The idea of the token
   */
  prompt: string;
  /**
   * Mint address of a token whose logo sets the style
   */
  ca_reference?: string;
}
