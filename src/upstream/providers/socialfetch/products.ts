/**
 * Products of TikTok Shop as Social Fetch tells them. Its reference says the names of cards; prices and details are
 * read under every name that it or TikTok is known to use, because the public excerpts of the reference end before them.
 */
import { asJsonObject, asJsonObjects, type JsonObject } from '../../../json.ts';
import { discountPercent } from '../../price-summary.ts';

export interface StorefrontProduct {
  marketplace: 'tiktok_shop';
  product_id: string;
  title: string;
  url: string | null;
  image: string | null;
  price: { amount: number | null; currency: string | null };
  original_price: number | null;
  discount_pct: number | null;
  rating: number | null;
  reviews_count: number | null;
  sold_count: number | null;
  seller: string | null;
  shop_id: string | null;
  ship_from: string | null;
  badges: string[];
}

export interface StorefrontDetail extends StorefrontProduct {
  description: string | null;
  category: string | null;
  images: string[];
  specifications: { name: string; value: string }[];
  skus: { sku_id: string | null; name: string | null; price: number | null; stock: number | null }[];
  seller_detail: { name: string | null; rating: number | null; location: string | null; product_count: number | null };
  reviews: { text: string; author: string | null; rating: number | null }[];
  /** Null where the provider says nothing of the stock. */
  in_stock: boolean | null;
}

/** A product card; undefined where the id or title is missing. */
export function storefrontProduct(card: unknown): StorefrontProduct | undefined {
  const product = asJsonObject(card);
  const id = textOf(product, 'id', 'productId');
  const title = textOf(product, 'title', 'name');
  if (id === null || title === null) return undefined;
  const price = asJsonObject(product.price ?? product.priceInfo);
  const amount = numberOf(
    price,
    'salePrice',
    'sale',
    'currentPrice',
    'current',
    'amount',
    'price',
    'minSkuPrice',
    'min',
  );
  const original = numberOf(price, 'originalPrice', 'original', 'originPrice', 'listPrice', 'minSkuOriginalPrice');
  const rating = asJsonObject(product.rating ?? product.ratings ?? product.reviewSummary);
  const seller = asJsonObject(product.seller ?? product.shop);
  const labels = asJsonObjects(product.labels).map((label) => textOf(label, 'text'));
  return {
    marketplace: 'tiktok_shop',
    product_id: id,
    title,
    url: textOf(product, 'url', 'productUrl', 'canonicalUrl'),
    image: textOf(product, 'imageUrl') ?? textOf(asJsonObject(product.image), 'url') ?? imagesOf(product)[0] ?? null,
    price: { amount, currency: textOf(price, 'currencyCode', 'currency', 'currencyName') },
    original_price: original,
    discount_pct: discountPercent(amount, original),
    rating: numberOf(product, 'rating', 'ratingScore') ?? numberOf(rating, 'score', 'average', 'productRating'),
    reviews_count: numberOf(product, 'reviewCount', 'reviewsCount') ?? numberOf(rating, 'reviewCount', 'count'),
    sold_count: numberOf(product, 'soldCount', 'sold', 'salesVolume'),
    seller: textOf(seller, 'name', 'shopName', 'sellerName') ?? textOf(product, 'sellerName', 'shopName'),
    shop_id: textOf(seller, 'id', 'shopId', 'sellerId') ?? textOf(product, 'sellerId', 'shopId'),
    ship_from: textOf(product, 'shipFrom'),
    badges: [textOf(product, 'trustLabel'), ...labels].filter((badge) => badge !== null),
  };
}

/** A product with its variants; `url` stands in where the provider gives none. Undefined where it has no title. */
export function storefrontDetail(data: JsonObject, url: string): StorefrontDetail | undefined {
  const product = asJsonObject(data.product ?? data);
  const seller = asJsonObject(product.seller ?? data.seller ?? product.shop ?? data.shop);
  const skus = asJsonObjects(product.skus ?? product.variants ?? data.skus).map(readSku);
  const prices = skus.flatMap(({ price }) => (price === null ? [] : [price]));
  const card = storefrontProduct({ ...product, seller, id: product.id ?? product.productId ?? idIn(url) });
  if (card === undefined) return undefined;
  const amount = card.price.amount ?? (prices.length > 0 ? Math.min(...prices) : null);
  const stocks = skus.flatMap(({ stock }) => (stock === null ? [] : [stock]));
  const category = product.category ?? asJsonObjects(product.categories).at(-1) ?? null;
  return {
    ...card,
    url: card.url ?? url,
    price: { ...card.price, amount },
    discount_pct: discountPercent(amount, card.original_price),
    description: textOf(product, 'description'),
    category: typeof category === 'string' ? category : textOf(asJsonObject(category), 'name', 'title'),
    images: imagesOf(product),
    specifications: asJsonObjects(product.specifications ?? product.attributes ?? product.properties).flatMap(
      readSpecification,
    ),
    skus,
    seller_detail: {
      name: card.seller,
      rating: numberOf(seller, 'rating', 'score'),
      location: textOf(seller, 'location', 'sellerLocation', 'region'),
      product_count: numberOf(seller, 'productCount', 'onSellProductCount'),
    },
    reviews: storefrontReviews(product.reviews ?? data.reviews),
    in_stock: stocks.length > 0 ? stocks.some((stock) => stock > 0) : null,
  };
}

function readSku(sku: JsonObject): StorefrontDetail['skus'][number] {
  const price = typeof sku.price === 'object' ? asJsonObject(sku.price) : sku;
  const properties = asJsonObjects(sku.properties ?? sku.saleProps).map((property) =>
    textOf(property, 'value', 'propValue'),
  );
  const named = properties.filter((value) => value !== null).join(', ');
  return {
    sku_id: textOf(sku, 'id', 'skuId'),
    name: textOf(sku, 'name', 'skuName', 'title') ?? (named === '' ? null : named),
    price: numberOf(price, 'salePrice', 'sale', 'current', 'amount', 'price', 'realPrice'),
    stock: numberOf(sku, 'stock', 'quantity', 'availableQuantity'),
  };
}

function readSpecification(specification: JsonObject): StorefrontDetail['specifications'] {
  const name = textOf(specification, 'name', 'key', 'propertyName');
  const value = textOf(specification, 'value', 'propertyValue');
  return name === null || value === null ? [] : [{ name, value }];
}

/** Those that have a text. */
export const storefrontReviews = (reviews: unknown): StorefrontDetail['reviews'] =>
  asJsonObjects(reviews).flatMap(readReview);

function readReview(review: JsonObject): StorefrontDetail['reviews'] {
  const text = textOf(review, 'text', 'content', 'reviewText', 'comment');
  if (text === null) return [];
  const reviewer = asJsonObject(review.reviewer ?? review.author ?? review.user);
  const author = textOf(review, 'author', 'authorName', 'userName') ?? textOf(reviewer, 'displayName', 'name');
  return [{ text, author, rating: numberOf(review, 'rating', 'score', 'stars') }];
}

function imagesOf(product: JsonObject): string[] {
  const images = Array.isArray(product.images)
    ? product.images
    : Array.isArray(product.imageUrls)
      ? product.imageUrls
      : [];
  return images.flatMap((image: unknown) =>
    typeof image === 'string' ? image : (textOf(asJsonObject(image), 'url') ?? []),
  );
}

/** Addresses of products end in their number. */
const idIn = (url: string): string | undefined => /\/(\d{6,})(?:[/?#]|$)/.exec(url)?.[1];

/** The first of the names that holds a text, or a number that stands for one. */
function textOf(record: JsonObject, ...names: string[]): string | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
}

/** The first of the names that holds a number, also written as in its storefront. */
function numberOf(record: JsonObject, ...names: string[]): number | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    const written = typeof value === 'string' ? numberIn(value) : undefined;
    if (written !== undefined) return written;
  }
  return null;
}

/** Thousands apart by commas, dots or spaces, and cents behind a dot or a comma. */
const WRITTEN = /(\d{1,3}(?:[\s.,]\d{3})+|\d+)(?:[.,](\d{1,2}))?(?!\d)/;

/** `12.99` and `4.875`, and as people read it `$1,299.00`, `1.299,00 €` and `Rp129.000`. */
function numberIn(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const [, whole, cents = '0'] = WRITTEN.exec(text) ?? [];
  return whole === undefined ? undefined : Number(`${whole.replaceAll(/\D/g, '')}.${cents}`);
}
