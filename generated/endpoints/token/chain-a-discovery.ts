// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenDiscoveryResult as Result } from '../../schemas/token-discovery-result.ts';

export interface Request {
  /**
   * What to look for
   */
  action: 'hot_tokens' | 'top_movers' | 'search' | 'smart_money' | 'top_traders';
  /**
   * What to search for: name, symbol or address
   */
  keyword?: string;
  /**
   * Most rows; top_traders gives at most 20
   */
  limit: number;
  /**
   * For tokens 1 is 5 minutes, 2 an hour, 3 four hours, 4 a day; for top_traders 1 is a day, 2 three days, 3 a week, 4 a month, 5 three months
   */
  timeFrame: '1' | '2' | '3' | '4' | '5';
  /**
   * For tokens 1 price, 2 price change (usual for top_movers), 3 transactions, 4 traders, 5 volume, 6 market cap, 7 liquidity, 8 age, 10 holders, 14 net inflow, 15 score; for top_traders 1 profit (usual), 2 win rate, 3 transactions, 4 volume, 5 return
   */
  sortBy?: string;
  /**
   * For smart_money only signals on this token
   */
  tokenAddress?: string;
  /**
   * For smart_money: 1 smart money, 2 influencers, 3 whales; several with commas between
   */
  walletType: string;
}
