// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A short-term view of a token
 */
export interface Result {
  /**
   * Ticker of the token
   */
  ticker: string;
  /**
   * Its mint address
   */
  mint?: string;
  /**
   * The score in a word
   */
  sentiment: 'bullish' | 'bearish' | 'neutral';
  /**
   * The model's view, from -1 (falling) to 1 (rising)
   */
  sentiment_score: number;
  /**
   * Price in US dollars
   */
  current_price: number;
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
   * The view in words
   */
  summary: string;
  /**
   * What is most likely to move the price
   */
  catalyst: string;
  [k: string]: unknown;
}

export interface Request {
  /**
   * A ticker with or without $, a name or a mint address
   */
  ticker: string;
}
