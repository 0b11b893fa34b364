/** Where products are searched: each marketplace's parameters, and its rows in one form. All through SerpApi. */

import { asJsonObject, numberOrNull, textOrNull } from '../../../json.ts';
import { discountPercent } from '../../price-summary.ts';
import { type Engine, rowsOf, type SerpAnswer, type SerpQuery } from '../../providers/serpapi/client.ts';
import { currencyOf } from './currency.ts';
import { type Condition, conditionOf, type Product, type Sort } from './product.ts';

export const marketplaceNames = ['google_shopping', 'amazon', 'ebay'] as const;
export type MarketplaceName = (typeof marketplaceNames)[number];

export interface ShopQuery {
  readonly keywords: string;
  readonly priceMin: number | undefined;
  readonly priceMax: number | undefined;
  readonly condition: Condition | undefined;
  readonly sort: Sort;
  /** Two letters, lower case. */
  readonly country: string;
}

interface Marketplace {
  readonly engine: Engine;
  query(query: ShopQuery): SerpQuery;
  /** In the marketplace's own order. */
  products(answer: SerpAnswer, country: string): Product[];
}

/** For marketplaces without a parameter for the condition. */
const conditionWords: Readonly<Record<Condition, string>> = {
  new: '',
  open_box: ' open box',
  refurbished: ' refurbished',
  used: ' used',
  for_parts: ' for parts',
};

const amazonDomains: Readonly<Record<string, string>> = {
  au: 'amazon.com.au',
  be: 'amazon.com.be',
  br: 'amazon.com.br',
  ca: 'amazon.ca',
  cn: 'amazon.cn',
  eg: 'amazon.eg',
  fr: 'amazon.fr',
  de: 'amazon.de',
  in: 'amazon.in',
  it: 'amazon.it',
  jp: 'amazon.co.jp',
  mx: 'amazon.com.mx',
  nl: 'amazon.nl',
  pl: 'amazon.pl',
  sa: 'amazon.sa',
  sg: 'amazon.sg',
  es: 'amazon.es',
  se: 'amazon.se',
  tr: 'amazon.com.tr',
  ae: 'amazon.ae',
  gb: 'amazon.co.uk',
  uk: 'amazon.co.uk',
  us: 'amazon.com',
};

const ebayDomains: Readonly<Record<string, string>> = {
  au: 'ebay.com.au',
  at: 'ebay.at',
  ca: 'ebay.ca',
  fr: 'ebay.fr',
  de: 'ebay.de',
  hk: 'ebay.com.hk',
  ie: 'ebay.ie',
  it: 'ebay.it',
  my: 'ebay.com.my',
  nl: 'ebay.nl',
  ph: 'ebay.ph',
  pl: 'ebay.pl',
  sg: 'ebay.com.sg',
  es: 'ebay.es',
  ch: 'ebay.ch',
  gb: 'ebay.co.uk',
  uk: 'ebay.co.uk',
  us: 'ebay.com',
};

/** eBay's ids of conditions. */
const ebayConditions: Readonly<Record<Condition, string>> = {
  new: '1000',
  open_box: '1500',
  refurbished: '2000|2010|2020|2030|2500',
  used: '3000',
  for_parts: '7000',
};

const googleSorts: Readonly<Partial<Record<Sort, string>>> = { price_asc: '1', price_desc: '2' };
const amazonSorts: Readonly<Partial<Record<Sort, string>>> = {
  price_asc: 'price-asc-rank',
  price_desc: 'price-desc-rank',
  rating: 'review-rank',
  reviews: 'review-rank',
  newest: 'date-desc-rank',
};
const ebaySorts: Readonly<Partial<Record<Sort, string>>> = { price_asc: '2', price_desc: '3', newest: '10' };

export const marketplaces: Readonly<Record<MarketplaceName, Marketplace>> = {
  google_shopping: {
    engine: 'google_shopping',
    query: ({ keywords, priceMin, priceMax, condition, sort, country }) => ({
      q: keywords + (condition === undefined ? '' : conditionWords[condition]),
      gl: country,
      hl: 'en',
      min_price: priceMin,
      max_price: priceMax,
      sort_by: googleSorts[sort],
    }),
    products: (answer, country) =>
      rowsOf(answer, 'shopping_results').flatMap((row) =>
        offer('google_shopping', row, country, {
          price: numberOrNull(row.extracted_price),
          formerPrice: numberOrNull(row.extracted_old_price),
          written: row.price,
          url: row.product_link ?? row.link,
          seller: row.source,
          condition: row.second_hand_condition,
          shipping: row.delivery,
        }),
      ),
  },
  amazon: {
    engine: 'amazon',
    query: ({ keywords, condition, sort, country }) => ({
      k: keywords + (condition === undefined ? '' : conditionWords[condition]),
      amazon_domain: amazonDomains[country] ?? 'amazon.com',
      shipping_location: amazonDomains[country] === undefined ? country.toUpperCase() : undefined,
      s: amazonSorts[sort],
    }),
    products: (answer, country) =>
      rowsOf(answer, 'organic_results').flatMap((row) =>
        offer('amazon', row, amazonDomains[country] === undefined ? 'us' : country, {
          price: numberOrNull(row.extracted_price),
          formerPrice: numberOrNull(row.extracted_old_price),
          written: row.price,
          url: row.link_clean ?? row.link,
          seller: undefined,
          condition: undefined,
          shipping: row.delivery,
        }),
      ),
  },
  ebay: {
    engine: 'ebay',
    query: ({ keywords, priceMin, priceMax, condition, sort, country }) => ({
      _nkw: keywords,
      ebay_domain: ebayDomains[country] ?? 'ebay.com',
      _udlo: priceMin,
      _udhi: priceMax,
      _sop: ebaySorts[sort] ?? '12',
      LH_ItemCondition: condition === undefined ? undefined : ebayConditions[condition],
    }),
    products: (answer, country) =>
      rowsOf(answer, 'organic_results').flatMap((row) => {
        const seller = asJsonObject(row.seller);
        // A listing with variants has a range: it is on sale from the lower end.
        const price = asJsonObject(asJsonObject(row.price).from ?? row.price);
        return offer('ebay', row, ebayDomains[country] === undefined ? 'us' : country, {
          price: numberOrNull(price.extracted),
          formerPrice: numberOrNull(asJsonObject(row.old_price).extracted),
          written: price.raw,
          url: row.link,
          seller: seller.username,
          condition: row.condition,
          shipping: asJsonObject(row.shipping).raw ?? row.shipping,
        });
      }),
  },
};

interface Found {
  price: number | null;
  formerPrice: number | null;
  /** The price as the shop writes it. */
  written: unknown;
  url: unknown;
  seller: unknown;
  condition: unknown;
  shipping: unknown;
}

function offer(marketplace: MarketplaceName, row: SerpAnswer, country: string, found: Found): Product[] {
  if (typeof row.title !== 'string' || row.title === '') return [];
  const { shipping } = found;
  return [
    {
      marketplace,
      title: row.title,
      url: textOrNull(found.url),
      image: textOrNull(row.thumbnail),
      price: found.price,
      currency: found.price === null ? null : currencyOf(found.written, country),
      discount: discountPercent(found.price, found.formerPrice),
      rating: numberOrNull(row.rating),
      reviews_count: numberOrNull(row.reviews),
      seller: textOrNull(found.seller),
      condition: conditionOf(found.condition),
      shipping: textOrNull(Array.isArray(shipping) ? shipping.join(', ') : shipping),
      also_available_at: [],
    },
  ];
}
