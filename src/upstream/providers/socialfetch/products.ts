/**
 * Products of TikTok Shop as Social Fetch tells them. Its reference says the names of cards; prices and details are
 * read under every name that it or TikTok is known to use, because the public excerpts of the reference end before them.
 */
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

type Fields = Readonly<Record<string, unknown>>;

/** A product card; undefined where the id or title is missing. */
export function storefrontProduct(card: unknown): StorefrontProduct | undefined {
  const product = fields(card);
  const id = textOf(product, 'id', 'productId');
  const title = textOf(product, 'title', 'name');
  if (id === null || title === null) return undefined;
  const price = fields(product.price ?? product.priceInfo);
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
  const rating = fields(product.rating ?? product.ratings ?? product.reviewSummary);
  const seller = fields(product.seller ?? product.shop);
  const labels = listOf(product.labels).map((label) => textOf(label, 'text'));
  return {
    marketplace: 'tiktok_shop',
    product_id: id,
    title,
    url: textOf(product, 'url', 'productUrl', 'canonicalUrl'),
    image: textOf(product, 'imageUrl') ?? textOf(fields(product.image), 'url') ?? imagesOf(product)[0] ?? null,
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

/** A product with its variants; `url` is told where the provider gives none. Undefined where it has no title. */
export function storefrontDetail(data: Fields, url: string): StorefrontDetail | undefined {
  const product = fields(data.product ?? data);
  const seller = fields(product.seller ?? data.seller ?? product.shop ?? data.shop);
  const skus = listOf(product.skus ?? product.variants ?? data.skus).map(readSku);
  const prices = skus.flatMap(({ price }) => (price === null ? [] : [price]));
  const card = storefrontProduct({ ...product, seller, id: product.id ?? product.productId ?? idIn(url) });
  if (card === undefined) return undefined;
  const amount = card.price.amount ?? (prices.length > 0 ? Math.min(...prices) : null);
  const stocks = skus.flatMap(({ stock }) => (stock === null ? [] : [stock]));
  const category = product.category ?? listOf(product.categories).at(-1) ?? null;
  return {
    ...card,
    url: card.url ?? url,
    price: { ...card.price, amount },
    discount_pct: discountPercent(amount, card.original_price),
    description: textOf(product, 'description'),
    category: typeof category === 'string' ? category : textOf(fields(category), 'name', 'title'),
    images: imagesOf(product),
    specifications: listOf(product.specifications ?? product.attributes ?? product.properties).flatMap(
      readSpecification,
    ),
    skus,
    seller_detail: {
      name: card.seller,
      rating: numberOf(seller, 'rating', 'score'),
      location: textOf(seller, 'location', 'sellerLocation', 'region'),
      product_count: numberOf(seller, 'productCount', 'onSellProductCount'),
    },
    reviews: listOf(product.reviews ?? data.reviews).flatMap(readReview),
    in_stock: stocks.length > 0 ? stocks.some((stock) => stock > 0) : null,
  };
}

function readSku(sku: Fields): StorefrontDetail['skus'][number] {
  const price = typeof sku.price === 'object' ? fields(sku.price) : sku;
  const properties = listOf(sku.properties ?? sku.saleProps).map((property) => textOf(property, 'value', 'propValue'));
  const named = properties.filter((value) => value !== null).join(', ');
  return {
    sku_id: textOf(sku, 'id', 'skuId'),
    name: textOf(sku, 'name', 'skuName', 'title') ?? (named === '' ? null : named),
    price: numberOf(price, 'salePrice', 'sale', 'current', 'amount', 'price', 'realPrice'),
    stock: numberOf(sku, 'stock', 'quantity', 'availableQuantity'),
  };
}

function readSpecification(specification: Fields): StorefrontDetail['specifications'] {
  const name = textOf(specification, 'name', 'key', 'propertyName');
  const value = textOf(specification, 'value', 'propertyValue');
  return name === null || value === null ? [] : [{ name, value }];
}

function readReview(review: Fields): StorefrontDetail['reviews'] {
  const text = textOf(review, 'text', 'content', 'reviewText', 'comment');
  if (text === null) return [];
  const author =
    textOf(review, 'author', 'authorName', 'userName') ?? textOf(fields(review.author ?? review.user), 'name');
  return [{ text, author, rating: numberOf(review, 'rating', 'score', 'stars') }];
}

function imagesOf(product: Fields): string[] {
  const images = Array.isArray(product.images)
    ? product.images
    : Array.isArray(product.imageUrls)
      ? product.imageUrls
      : [];
  return images.flatMap((image: unknown) => (typeof image === 'string' ? image : (textOf(fields(image), 'url') ?? [])));
}

/** Addresses of products end in their number. */
const idIn = (url: string): string | undefined => /\/(\d{6,})(?:[/?#]|$)/.exec(url)?.[1];

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fields) : []);

/** The first of the names that holds a text, or a number that stands for one. */
function textOf(record: Fields, ...names: string[]): string | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
}

/** The first of the names that holds a number, also written `$1,299.00`. */
function numberOf(record: Fields, ...names: string[]): number | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'string') continue;
    const match = /\d[\d,]*(?:\.\d+)?/.exec(value);
    if (match) return Number(match[0].replaceAll(',', ''));
  }
  return null;
}
