// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { StockArbResult as Result } from '../../schemas/stock-arb-result.ts';

export interface Request {
  /**
   * Order by the size of the gap, or by the largest premium or discount first
   */
  sort: 'abs' | 'premium' | 'discount';
  /**
   * Leave out stocks with less liquidity
   */
  min_liquidity_usd?: number;
}
