// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * An offer
 */
export interface Product {
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
}
