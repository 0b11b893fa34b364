// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A stock that chain-d offers as a token
 */
export interface ChainDStockRequest {
  /**
   * A US stock ticker or the symbol of its token; SPY and QQQ are not offered as stock tokens on chain-d
   */
  ticker: string;
}
