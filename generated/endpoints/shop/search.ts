// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Offers
   *
   * Items: An offer
   */
  results: {
    /**
     * Where it is on sale: google_shopping, amazon, ebay, or the site of an image match
     */
    marketplace: string;
    /**
     * Name of the product
     */
    title: string;
    /**
     * Where to buy it
     */
    url: string | null;
    /**
     * A picture of it
     */
    image: string | null;
    /**
     * What it costs
     */
    price: number | null;
    /**
     * Currency of the price such as USD
     */
    currency: string | null;
    /**
     * Percent off the former price, rounded; null where nothing is off
     */
    discount: number | null;
    /**
     * Stars out of 5
     */
    rating: number | null;
    /**
     * Number of reviews
     */
    reviews_count: number | null;
    /**
     * Who sells it
     */
    seller: string | null;
    /**
     * Condition where the offer says it
     */
    condition: 'new' | 'open_box' | 'refurbished' | 'used' | 'for_parts' | null;
    /**
     * Delivery, in the marketplace's words
     */
    shipping: string | null;
    /**
     * The same thing at other marketplaces, by its title
     */
    also_available_at: {
      /**
       * The other marketplace
       */
      marketplace: string;
      /**
       * Where to buy it there
       */
      url: string | null;
      /**
       * What it costs there
       */
      price: number | null;
      /**
       * Currency of that price
       */
      currency: string | null;
      [k: string]: unknown;
    }[];
    [k: string]: unknown;
  }[];
  /**
   * What the results cost
   */
  price_summary: {
    /**
     * Lowest price; null where nothing has a price
     */
    min: number | null;
    /**
     * Highest price
     */
    max: number | null;
    /**
     * Middle price, of an even number the mean of the middle two
     */
    median: number | null;
    /**
     * The currency of these three, that of most results
     */
    currency: string | null;
    /**
     * Results left out because they have no price or another currency
     */
    left_out: number;
    [k: string]: unknown;
  };
  /**
   * What was searched for
   */
  intent: {
    /**
     * What was typed into the marketplaces
     */
    keywords: string;
    /**
     * Lowest price
     */
    price_min: number | null;
    /**
     * Highest price
     */
    price_max: number | null;
    /**
     * Condition
     */
    condition: string | null;
    /**
     * Order
     */
    sort: string;
    /**
     * What was searched
     */
    marketplaces: string[];
    [k: string]: unknown;
  };
  /**
   * How each marketplace did
   */
  sources: {
    /**
     * The marketplace
     */
    marketplace: string;
    /**
     * Offers that it gave before any filter
     */
    count: number;
    /**
     * How long it took in milliseconds
     */
    took_ms: number;
    /**
     * Why it gave none: failed, timeout, malformed, unavailable or invalid-input
     */
    error?: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

export interface Request {
  /**
   * What to look for in plain words; may say a price range, condition, order and marketplaces
   */
  query: string;
  /**
   * Where to search, all three unless this or the query says; fewer cost less
   *
   * @minItems 1
   * @maxItems 3
   */
  marketplaces?: ('google_shopping' | 'amazon' | 'ebay')[];
  /**
   * Lowest price in the country's currency; counts before the query
   */
  price_min?: number;
  /**
   * Highest price in the country's currency; counts before the query
   */
  price_max?: number;
  /**
   * Condition of the offers; amazon is skipped for used and refurbished
   */
  condition?: 'new' | 'open_box' | 'refurbished' | 'used' | 'for_parts';
  /**
   * relevance, the default, spreads results across marketplaces, any other gives that exact order with unknown values last; newest is the marketplaces' own order, which google_shopping does not have
   */
  sort?: 'relevance' | 'price_asc' | 'price_desc' | 'rating' | 'reviews' | 'discount' | 'newest';
  /**
   * Two-letter code (ISO 3166-1) of the country to shop in
   */
  country: string;
  /**
   * Most results
   */
  limit: number;
}
