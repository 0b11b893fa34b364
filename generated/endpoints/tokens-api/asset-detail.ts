// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * The asset, and the sections that were asked for
 */
export interface Result {
  /**
   * The asset's logo
   */
  imageUrl: string | null;
  /**
   * The variant that is traded most, as in asset
   */
  primaryVariant: {
    [k: string]: unknown;
  } | null;
  /**
   * Market figures over all variants, as in asset
   */
  stats: {
    [k: string]: unknown;
  } | null;
  /**
   * An asset with its market figures
   */
  asset: {
    /**
     * Canonical id of the asset
     */
    assetId: string;
    /**
     * Full name
     */
    name?: string | null;
    /**
     * Ticker
     */
    symbol?: string | null;
    /**
     * What sort of asset it is
     */
    category?: string | null;
    /**
     * Its logo
     */
    imageUrl?: string | null;
    /**
     * Market figures in US dollars, changes in percent; null where there are none yet
     */
    stats?: {
      /**
       * Price of one unit
       */
      price?: number | null;
      /**
       * Liquidity over all variants
       */
      liquidity?: number | null;
      /**
       * Volume in 24 hours
       */
      volume?: number | null;
      /**
       * Market capitalisation
       */
      marketCap?: number | null;
      /**
       * Price change in 24 hours
       */
      priceChange?: number | null;
      /**
       * The same as volume
       */
      volume24hUSD?: number | null;
      /**
       * The same as priceChange
       */
      priceChange24hPercent?: number | null;
      /**
       * Price change in an hour
       */
      priceChange1hPercent?: number | null;
      [k: string]: unknown;
    } | null;
    /**
     * The variant that is traded most
     */
    primaryVariant?: {
      /**
       * Mint address
       */
      mint: string;
      /**
       * Ticker of the variant
       */
      symbol?: string;
      /**
       * Name of the variant
       */
      name?: string;
      /**
       * The chain it lives on
       */
      chain?: string;
      /**
       * native, wrapped, bridged, lst, stablecoin and others
       */
      kind?: string;
      /**
       * tier1, tier2 or experimental
       */
      trustTier?: string;
      /**
       * How liquid its markets are
       */
      liquidityTier?: string;
      /**
       * What else is known of it
       */
      tags?: string[];
      /**
       * A warning against the variant, with status and reason
       */
      advisory?: {
        [k: string]: unknown;
      } | null;
      /**
       * Market figures of one variant in US dollars, changes in percent; null where there are none yet
       */
      market?: {
        /**
         * Price of one unit
         */
        price?: number | null;
        /**
         * Liquidity of its markets
         */
        liquidity?: number | null;
        /**
         * Volume in 24 hours
         */
        volume24hUSD?: number | null;
        /**
         * Market capitalisation
         */
        marketCap?: number | null;
        /**
         * Price change in 24 hours
         */
        priceChange24hPercent?: number | null;
        /**
         * Price change in an hour
         */
        priceChange1hPercent?: number | null;
        /**
         * Decimals of the token
         */
        decimals?: number | null;
        /**
         * Its icon
         */
        logoURI?: string | null;
        [k: string]: unknown;
      } | null;
      [k: string]: unknown;
    } | null;
    /**
     * Other names it answers to
     */
    aliases?: string[];
    /**
     * Warnings against variants
     */
    advisories?: {
      [k: string]: unknown;
    }[];
    /**
     * All variants by sort
     */
    variantGroups?: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  /**
   * How the id was understood, where it was an alias or an address
   */
  resolution?: {
    /**
     * The asset that was found
     */
    assetId?: string;
    /**
     * What the id turned out to be
     */
    resolvedBy?: string;
    /**
     * The variant that it names
     */
    mint?: string | null;
    [k: string]: unknown;
  };
  /**
   * Section: {ok: true, data} or {ok: false, reason, message}
   */
  includes?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * A canonical asset id such as usd, or chain-a-<mint> for a token that stands alone
   */
  assetId: string;
  /**
   * Sections to add, with commas between: profile, risk, ohlcv, markets
   */
  include?: string;
  /**
   * The variant that the sections are about; the one traded most unless given
   */
  mint?: string;
  /**
   * Length of a candle of the section ohlcv
   */
  ohlcvInterval: '1m' | '5m' | '15m' | '1H' | '4H' | '1D' | '1W';
  /**
   * First candle, in seconds since 1970; 7 days before the end unless given. At most 10,000 candles, the latest, are answered
   */
  ohlcvFrom?: number;
  /**
   * Last candle, in seconds since 1970; now unless given
   */
  ohlcvTo?: number;
  /**
   * Markets to leave out at the start
   */
  marketsOffset: number;
  /**
   * Most markets of the section markets
   */
  marketsLimit: number;
}
