// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Pages that show it, or in shop mode offers
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
   * Whether the very same picture was found
   */
  exact_match: boolean;
  /**
   * What the photo shows; empty where nothing like it was found
   */
  identified: string;
  /**
   * Whether the photo shows a product, a thing that shops sell
   */
  is_product_image: boolean;
  /**
   * Shop mode only: each marketplace beside the others
   */
  marketplace_comparison?: {
    /**
     * The marketplace
     */
    marketplace: string;
    /**
     * Offers that fit the request
     */
    count: number;
    /**
     * The cheapest offer
     */
    lowest_price: number | null;
    /**
     * The middle offer
     */
    median_price: number | null;
    /**
     * Currency of the two
     */
    currency: string | null;
    /**
     * Why it gave none: failed, timeout, malformed, unavailable or invalid-input
     */
    error?: string;
    [k: string]: unknown;
  }[];
  /**
   * What else to search for
   */
  related_queries: string[];
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
  [k: string]: unknown;
}

export interface Request {
  /**
   * Public https URL of the photo
   */
  image_url: string;
  /**
   * identify names the product, shop also searches it at the marketplaces
   */
  mode: 'identify' | 'shop';
  /**
   * Words that narrow the search
   */
  q?: string;
  /**
   * Where to search in shop mode; left out all three
   *
   * @minItems 1
   * @maxItems 3
   */
  marketplaces?: ('google_shopping' | 'amazon' | 'ebay')[];
  /**
   * Lowest price in the country's currency
   */
  price_min?: number;
  /**
   * Highest price in the country's currency
   */
  price_max?: number;
  /**
   * Condition of the offers; amazon is skipped for used and refurbished
   */
  condition?: 'new' | 'open_box' | 'refurbished' | 'used' | 'for_parts';
  /**
   * Order; any but relevance is exact with unknown values last
   */
  sort: 'relevance' | 'price_asc' | 'price_desc' | 'rating' | 'reviews' | 'discount';
  /**
   * Two-letter code (ISO 3166-1) of the country to shop in
   */
  country: string;
  /**
   * Most results
   */
  limit: number;
}
