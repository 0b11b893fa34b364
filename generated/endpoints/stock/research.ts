// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { StockResearchResult as Result } from '../../schemas/stock-research-result.ts';

export interface Request {
  /**
   * A US stock ticker such as AAPL, or the symbol of its token such as AAPLx
   */
  ticker: string;
}

/**
 * A stock that chain-d offers as a token
 */
export interface ChainDRequest {
  /**
   * A US stock ticker or the symbol of its token; SPY and QQQ are not offered as stock tokens on chain-d
   */
  ticker: string;
}
