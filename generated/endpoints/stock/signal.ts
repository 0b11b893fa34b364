// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A short-term view of a stock
 */
export interface Result {
  /**
   * Ticker of the share
   */
  ticker: string;
  /**
   * The score in a word
   */
  sentiment: 'bullish' | 'bearish' | 'neutral';
  /**
   * The model's view, from -1 (falling) to 1 (rising)
   */
  sentiment_score: number;
  /**
   * Price of a share in US dollars
   */
  current_price: number;
  /**
   * What US exchanges are doing: pre-market, regular, post-market or closed
   */
  market_status: string | null;
  /**
   * Where the model sees the price in seven days in US dollars
   */
  price_target_7d: number;
  /**
   * Reasons, the strongest first
   *
   * @minItems 3
   * @maxItems 3
   */
  signals: string[];
  /**
   * How unsure the view is
   */
  risk_level: 'low' | 'medium' | 'high';
  /**
   * When the company next reports
   */
  next_earnings: string | null;
  /**
   * The view in words
   */
  summary: string;
  /**
   * What is most likely to move the price
   */
  catalyst: string;
  /**
   * The stock as a token; null where there is none. Paid on chain-d it is that chain's stock token
   */
  tokenized: {
    /**
     * Symbol of the token
     */
    xstock_symbol?: string;
    /**
     * Mint address of the token
     */
    solana_mint?: string;
    /**
     * Price of the token in US dollars
     */
    onchain_price?: number | null;
    /**
     * How far the token is above or below the share in percent
     */
    premium_discount_pct?: number | null;
    /**
     * Liquidity of the token in US dollars
     */
    liquidity?: number | null;
    /**
     * Whether chain-d offers a stock token of it
     */
    robinhood_available?: boolean;
    /**
     * Symbol on chain-d, null where it is not offered there
     */
    robinhood_symbol?: string | null;
    /**
     * CAIP-2 id of chain-d
     */
    chain?: string;
    /**
     * When the stock token is traded on chain-d
     */
    trading_hours?: string;
    /**
     * The token that trades on chain-a
     */
    xstock_reference?: {
      /**
       * Symbol of the token
       */
      xstock_symbol?: string;
      /**
       * Mint address of the token
       */
      solana_mint?: string;
      /**
       * Price of the token in US dollars
       */
      onchain_price?: number | null;
      /**
       * How far the token is above or below the share in percent
       */
      premium_discount_pct?: number | null;
      /**
       * Liquidity of the token in US dollars
       */
      liquidity?: number | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}

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
