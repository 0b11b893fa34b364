// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A report on a stock. Figures come from market data, words from a model; a section without data is null
 */
export interface StockResearchResult {
  /**
   * Ticker of the share
   */
  ticker: string;
  /**
   * Who it is a share of
   */
  company_name?: string | null;
  /**
   * What the company does and how it stands
   */
  overview: string;
  /**
   * Price of a share in US dollars
   */
  current_price: number;
  /**
   * Change since the last close in percent
   */
  price_change_pct?: number | null;
  /**
   * Figures of the company
   */
  fundamentals: {
    /**
     * Market capitalisation in the company's currency
     */
    market_cap: number | null;
    /**
     * Price to the earnings of the last year
     */
    pe_ratio: number | null;
    /**
     * Price to the earnings that are expected
     */
    forward_pe: number | null;
    /**
     * Dividend in percent of the price
     */
    dividend_yield_pct: number | null;
    /**
     * Lowest price in a year
     */
    week_52_low: number | null;
    /**
     * Highest price in a year
     */
    week_52_high: number | null;
    /**
     * A day on which the company reports; null where none is known
     */
    next_earnings: {
      /**
       * The day
       */
      date: string;
      /**
       * Earnings a share that analysts expect in US dollars
       */
      eps_estimate: number | null;
      /**
       * Earnings a share that were reported in US dollars
       */
      eps_actual: number | null;
      [k: string]: unknown;
    } | null;
    /**
     * A day on which the company reports; null where none is known
     */
    last_earnings: {
      /**
       * The day
       */
      date: string;
      /**
       * Earnings a share that analysts expect in US dollars
       */
      eps_estimate: number | null;
      /**
       * Earnings a share that were reported in US dollars
       */
      eps_actual: number | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  /**
   * News of the last two weeks, the latest first
   */
  recent_news:
    | {
        /**
         * When it came out
         */
        date: string;
        /**
         * The headline
         */
        headline: string;
        /**
         * How it bears on the price
         */
        impact: 'positive' | 'negative' | 'neutral';
        /**
         * Who published it
         */
        source: string | null;
        /**
         * Where it is
         */
        url: string | null;
        [k: string]: unknown;
      }[]
    | null;
  /**
   * What analysts say
   */
  analyst_consensus: {
    /**
     * Their mean opinion
     */
    label: 'strong buy' | 'buy' | 'hold' | 'sell' | 'strong sell' | null;
    /**
     * The month that is counted
     */
    period: string | null;
    /**
     * How many say so
     */
    strong_buy: number | null;
    /**
     * How many say so
     */
    buy: number | null;
    /**
     * How many say so
     */
    hold: number | null;
    /**
     * How many say so
     */
    sell: number | null;
    /**
     * How many say so
     */
    strong_sell: number | null;
    /**
     * Where they see the price in US dollars
     */
    price_target: {
      /**
       * The lowest target
       */
      low: number | null;
      /**
       * The mean of all targets
       */
      mean: number | null;
      /**
       * The target in the middle
       */
      median: number | null;
      /**
       * The highest target
       */
      high: number | null;
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  /**
   * What speaks for it
   */
  bull_case: string;
  /**
   * What speaks against it
   */
  bear_case: string;
  /**
   * What may go wrong
   */
  key_risks: string[];
  /**
   * Companies in the same line of business
   */
  competitors:
    | {
        /**
         * Ticker
         */
        ticker: string;
        /**
         * How it compares
         */
        comparison: string;
        [k: string]: unknown;
      }[]
    | null;
  /**
   * What people say of it
   */
  social_sentiment: {
    /**
     * Which way opinion leans
     */
    label: 'bullish' | 'bearish' | 'mixed';
    /**
     * What is said
     */
    summary: string;
    /**
     * Posts that were found; may be empty
     */
    sample_posts: {
      /**
       * What it says
       */
      text: string;
      /**
       * Where it is
       */
      url: string;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  } | null;
  /**
   * What a holder of the token should know
   */
  tokenized_notes: string;
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
  /**
   * The conclusion
   */
  verdict: string;
  /**
   * Pages that the report rests on
   */
  sources: {
    /**
     * What it is
     */
    title: string;
    /**
     * Where it is
     */
    url: string;
    [k: string]: unknown;
  }[];
  /**
   * Sections that lack something because their source failed
   */
  missing: string[];
  /**
   * True where the report was made for an earlier call
   */
  cached: boolean;
  /**
   * When the report was made
   */
  researched_at: string;
  [k: string]: unknown;
}
