// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * What is known of one or several tokens
 */
export interface TokenMarketResult {
  /**
   * The chain that the tokens live on
   */
  chain: string;
  /**
   * What was asked for
   */
  action: string;
  /**
   * Addresses of an overview that nothing is known of
   */
  missing?: string[];
  /**
   * token_overview gives a list of tokens with name, symbol, price, market cap, liquidity and changes over 5 minutes to 24 hours, a single token also with advanced risk figures. The other actions give an object with tokenAddress and holders and top10HoldPercent, bar and candles (time, open, high, low, close, volume, volumeUsd, confirmed), trades, scan and advanced, or overview and topHolders. Amounts in US dollars, shares and changes in percent, times in milliseconds since 1970; null where nothing is known.
   */
  data:
    | unknown[]
    | {
        [k: string]: unknown;
      };
  [k: string]: unknown;
}
