// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * The product; null where it was not found
   */
  product: null | {
    /**
     * Always tiktok_shop
     */
    marketplace?: string;
    /**
     * The product's number
     */
    product_id?: string;
    /**
     * Name of the product
     */
    title?: string;
    /**
     * Its page; /tiktok/product takes it
     */
    url?: string | null;
    /**
     * A picture of it
     */
    image?: string | null;
    /**
     * What it costs
     */
    price?: {
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
    original_price?: number | null;
    /**
     * Percent off the original price, rounded; null where nothing is off
     */
    discount_pct?: number | null;
    /**
     * Stars out of 5
     */
    rating?: number | null;
    /**
     * Number of reviews
     */
    reviews_count?: number | null;
    /**
     * Number sold
     */
    sold_count?: number | null;
    /**
     * Name of the shop
     */
    seller?: string | null;
    /**
     * The shop's number
     */
    shop_id?: string | null;
    /**
     * Where it is sent from
     */
    ship_from?: string | null;
    /**
     * Labels such as Free shipping
     */
    badges?: string[];
    /**
     * The seller's text
     */
    description: string | null;
    /**
     * What sort of product it is
     */
    category: string | null;
    /**
     * Pictures of it
     */
    images: string[];
    /**
     * Its properties
     */
    specifications: {
      /**
       * The property
       */
      name: string;
      /**
       * Its value
       */
      value: string;
      [k: string]: unknown;
    }[];
    /**
     * Its variants
     */
    skus: {
      /**
       * The variant's number
       */
      sku_id: string | null;
      /**
       * Such as Blue, Large
       */
      name: string | null;
      /**
       * What the variant costs
       */
      price: number | null;
      /**
       * How many are left
       */
      stock: number | null;
      [k: string]: unknown;
    }[];
    /**
     * The shop
     */
    seller_detail: {
      /**
       * Name of the shop
       */
      name: string | null;
      /**
       * Stars out of 5
       */
      rating: number | null;
      /**
       * Where the shop is
       */
      location: string | null;
      /**
       * How many products it sells
       */
      product_count: number | null;
      [k: string]: unknown;
    };
    /**
     * The reviews that the page shows
     */
    reviews: {
      /**
       * The review
       */
      text: string;
      /**
       * Who wrote it
       */
      author: string | null;
      /**
       * Stars out of 5
       */
      rating: number | null;
      [k: string]: unknown;
    }[];
    /**
     * Whether any variant is left; null where the page does not say
     */
    in_stock: boolean | null;
    [k: string]: unknown;
  };
  /**
   * False where the listing is gone, or the provider says that it cannot be reached
   */
  found: boolean;
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
   * Address of the product on tiktok.com, such as the url of a search result
   */
  url: string;
  /**
   * The storefront; only US
   */
  region: 'US';
  /**
   * Whether to add the provider's own answer under raw
   */
  raw: boolean;
}
