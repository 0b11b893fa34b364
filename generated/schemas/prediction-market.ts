// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A market; of one with several outcomes the likeliest
 */
export interface PredictionMarket {
  /**
   * The venue's number of the market
   */
  id: number;
  /**
   * What market-intel takes as market_id
   */
  slug: string;
  /**
   * The question; outcomes of a group carry the group's title before their own
   */
  title: string;
  /**
   * Name of its first category
   */
  category: string | null;
  /**
   * Its id; null where the venue has no category of that name
   */
  category_id: number | null;
  /**
   * When it ends, ISO 8601
   */
  deadline: string | null;
  /**
   * What a share of YES costs, from 0 to 1
   */
  yes_price: number | null;
  /**
   * What a share of NO costs, from 0 to 1
   */
  no_price: number | null;
  /**
   * Traded so far in the collateral token
   */
  volume: number | null;
  /**
   * The same in the token's smallest unit
   */
  volume_raw: string | null;
  /**
   * Liquidity in the collateral token; pools only
   */
  liquidity: number | null;
  /**
   * The token that is paid in and out
   */
  collateral_token: string | null;
  /**
   * Where there are several outcomes: all of them, each as a market
   */
  outcomes?: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
