// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Products
   *
   * Items: A product of TikTok Shop
   */
  results: {
    /**
     * Always tiktok_shop
     */
    marketplace: string;
    /**
     * The product's number
     */
    product_id: string;
    /**
     * Name of the product
     */
    title: string;
    /**
     * Its page; /tiktok/product takes it
     */
    url: string | null;
    /**
     * A picture of it
     */
    image: string | null;
    /**
     * What it costs
     */
    price: {
      /**
       * In the storefront's currency
       */
      amount: number | null;
      /**
       * The storefront's currency such as USD
       */
      currency: string | null;
      [k: string]: unknown;
    };
    /**
     * Price before any discount
     */
    original_price: number | null;
    /**
     * Percent off the original price, rounded; null where nothing is off
     */
    discount_pct: number | null;
    /**
     * Stars out of 5
     */
    rating: number | null;
    /**
     * Number of reviews
     */
    reviews_count: number | null;
    /**
     * Number sold
     */
    sold_count: number | null;
    /**
     * Name of the shop
     */
    seller: string | null;
    /**
     * The shop's number
     */
    shop_id: string | null;
    /**
     * Where it is sent from
     */
    ship_from: string | null;
    /**
     * Labels such as Free shipping
     */
    badges: string[];
    [k: string]: unknown;
  }[];
  /**
   * Number of results on this page
   */
  total_results: number;
  /**
   * Number on all pages; null where the provider does not say
   */
  total_available: number | null;
  /**
   * Whether there is another page
   */
  has_more: boolean;
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
   * Whether the answer was read before
   */
  cached: boolean;
  /**
   * The provider's own answer, untouched
   */
  raw?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * What to look for
   */
  query: string;
  /**
   * The storefront to search
   */
  region: 'US' | 'GB' | 'ID' | 'MY' | 'SG' | 'TH' | 'VN' | 'PH' | 'JP' | 'DE' | 'FR' | 'IT' | 'ES' | 'IE' | 'MX' | 'BR';
  /**
   * Page of results
   */
  page: number;
  /**
   * Whether to add the provider's own answer under raw
   */
  raw: boolean;
}
