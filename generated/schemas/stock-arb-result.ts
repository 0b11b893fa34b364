// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Tokenized stocks by their premium or discount against the share
 */
export interface StockArbResult {
  /**
   * Stocks with both prices
   */
  opportunities: {
    /**
     * Ticker of the share
     */
    ticker: string;
    /**
     * Symbol of the token
     */
    xstock_symbol: string;
    /**
     * Mint address of the token
     */
    solana_mint: string;
    /**
     * Price of the token in US dollars
     */
    onchain_price: number;
    /**
     * Price of the share in US dollars; the last close while markets are shut
     */
    underlying_price: number;
    /**
     * How far the token is above (or below) the share
     */
    premium_discount_pct: number;
    /**
     * Which of the two costs more
     */
    direction: 'premium' | 'discount' | 'flat';
    /**
     * Liquidity of the token in US dollars
     */
    onchain_liquidity_usd?: number | null;
    /**
     * The token's price change in 24 hours
     */
    price_change_24h_pct?: number | null;
    /**
     * Shares that one token stands for
     */
    ui_multiplier?: number;
    /**
     * True where gap and liquidity are large enough and the share's price is fresh
     */
    actionable: boolean;
    [k: string]: unknown;
  }[];
  /**
   * Stocks that lack one of the two prices
   */
  unpriced: {
    /**
     * Ticker of the share
     */
    ticker: string;
    /**
     * Symbol of the token
     */
    xstock_symbol: string;
    /**
     * Mint address of the token
     */
    solana_mint: string;
    [k: string]: unknown;
  }[];
  /**
   * The scan as a whole
   */
  stats: {
    /**
     * Stocks looked at, priced or not
     */
    tracked: number;
    /**
     * Mean over the priced ones
     */
    average_premium_discount_pct: number | null;
    /**
     * How many are actionable
     */
    actionable_count: number;
    [k: string]: unknown;
  };
  /**
   * When the prices were read
   */
  fetched_at: string;
  [k: string]: unknown;
}
