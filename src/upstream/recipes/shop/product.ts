/** Offers of all marketplaces in one form, and what can be done with a list of them. */
import { mainCurrency } from '../../price-summary.ts';

export const conditions = ['new', 'open_box', 'refurbished', 'used', 'for_parts'] as const;
export type Condition = (typeof conditions)[number];

export const sorts = ['relevance', 'price_asc', 'price_desc', 'rating', 'reviews', 'discount', 'newest'] as const;
export type Sort = (typeof sorts)[number];

export type Product = {
  marketplace: string;
  title: string;
  url: string | null;
  image: string | null;
  price: number | null;
  /** ISO 4217. */
  currency: string | null;
  /** Whole percent off the former price. */
  discount: number | null;
  rating: number | null;
  reviews_count: number | null;
  seller: string | null;
  condition: Condition | null;
  shipping: string | null;
  also_available_at: { marketplace: string; url: string | null; price: number | null; currency: string | null }[];
};

/** In the words of shops. New comes last because "new (other)", "like new" and "opened, never used" are not. */
const conditionWords: readonly (readonly [Condition, RegExp])[] = [
  ['for_parts', /\bfor parts\b|\bparts only\b|not working/i],
  ['open_box', /\bopen[- ]box\b|\bopened\b|\bnew \(?other\b/i],
  ['refurbished', /refurbished|renewed|reconditioned/i],
  ['used', /\bused\b|pre-?owned|second[- ]?hand|like new/i],
  ['new', /\bnew\b/i],
];

/** What a shop's word for a condition means; null for none of them. */
export function conditionOf(words: unknown): Condition | null {
  if (typeof words !== 'string') return null;
  return conditionWords.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
}

/** Shops say nothing of the condition of new things; any other condition must be stated, if only in the title. */
export function hasCondition(product: Product, wanted: Condition): boolean {
  const stated = product.condition ?? conditionOf(product.title);
  return wanted === 'new' ? stated === null || stated === 'new' : stated === wanted;
}

/** Within the bounds, in the currency that most offers have: what has no price, or another currency, cannot be compared. */
export function withinPrices(
  products: readonly Product[],
  min: number | undefined,
  max: number | undefined,
): Product[] {
  if (min === undefined && max === undefined) return [...products];
  const currency = mainCurrency(products);
  return products.filter(({ price, currency: own }) => {
    return price !== null && own === currency && price >= (min ?? 0) && price <= (max ?? Number.POSITIVE_INFINITY);
  });
}

/** Marketplaces in turn, each in its own order: every one of them is seen at the top. */
export function interleave(lists: readonly (readonly Product[])[]): Product[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((list) => list[rank] ?? [])).flat();
}

type Key = (product: Product) => number | null;

const keys: Readonly<Record<Exclude<Sort, 'relevance' | 'newest'>, { key: Key; descending: boolean }>> = {
  price_asc: { key: ({ price }) => price, descending: false },
  price_desc: { key: ({ price }) => price, descending: true },
  rating: { key: ({ rating }) => rating, descending: true },
  reviews: { key: ({ reviews_count }) => reviews_count, descending: true },
  discount: { key: ({ discount }) => discount, descending: true },
};

/** Exactly by the number, offers without it last. Prices in another currency than most count as none. */
export function sortBy(products: readonly Product[], sort: keyof typeof keys): Product[] {
  const { key, descending } = keys[sort];
  const currency = mainCurrency(products);
  const isPrice = sort === 'price_asc' || sort === 'price_desc';
  const keyed = products.map((product) => {
    return { product, value: isPrice && product.currency !== currency ? null : key(product) };
  });
  keyed.sort(({ value: one }, { value: other }) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return descending ? other - one : one - other;
  });
  return keyed.map(({ product }) => product);
}

const SAME_TITLE = 0.7;

/** Tells each offer where else the same thing is on sale: titles that share most of their words. */
export function withOtherPlaces(products: readonly Product[]): Product[] {
  const words = products.map(({ title }) => new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  return products.map((product, index) => ({
    ...product,
    also_available_at: products.flatMap(({ marketplace, url, price, currency }, other) => {
      if (marketplace === product.marketplace || likeness(words[index], words[other]) < SAME_TITLE) return [];
      return [{ marketplace, url, price, currency }];
    }),
  }));
}

/** Shared words among all words of the two. */
function likeness(one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()): number {
  const shared = [...one].filter((word) => other.has(word)).length;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}
