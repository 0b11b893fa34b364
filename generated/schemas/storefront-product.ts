// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A product of TikTok Shop
 */
export interface StorefrontProduct {
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
}
