// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenMarketResult as Result } from '../../schemas/token-market-result.ts';

export interface Request {
  /**
   * What to find out
   */
  action: 'token_overview' | 'holder_analysis' | 'candlesticks' | 'whale_trades';
  /**
   * The token
   */
  tokenAddress: string;
  /**
   * For candlesticks: the length of a candle
   */
  bar: '1s' | '1m' | '3m' | '5m' | '15m' | '30m' | '1H' | '2H' | '4H' | '6H' | '12H' | '1D' | '1W';
}
