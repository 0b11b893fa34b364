// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenMarketResult as Result } from '../../schemas/token-market-result.ts';

export interface Request {
  /**
   * What to find out
   */
  action: 'token_overview' | 'holder_analysis' | 'candlesticks' | 'whale_trades' | 'token_risk' | 'cluster_check';
  /**
   * The token; needed unless token_overview gets tokenAddresses
   */
  tokenAddress?: string;
  /**
   * For token_overview: several tokens
   *
   * @minItems 1
   * @maxItems 20
   *
   * Items: A token's mint address, in base58
   */
  tokenAddresses?: string[];
  /**
   * For candlesticks: the length of a candle
   */
  bar: '1s' | '1m' | '3m' | '5m' | '15m' | '30m' | '1H' | '2H' | '4H' | '6H' | '12H' | '1D' | '1W';
  /**
   * Most rows; at most 100 holders, 299 candles, 500 trades
   */
  limit: number;
  /**
   * Sort of wallet, for holder_analysis (all unless given) and whale_trades (whales unless given): 1 influencer, 2 developer, 3 smart money, 4 whale, 5 fresh wallet, 6 insider, 7 sniper, 8 phishing suspect, 9 bundler
   */
  tagFilter?: string;
}
