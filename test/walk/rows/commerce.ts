/** Section 4.8: commerce and prediction markets. */
import {
  alphaFeed,
  commerceSearch,
  imageSearch,
  imageSearchInShops,
  predictionIntel,
  predictionList,
  storefrontProduct,
  storefrontSearch,
} from '../results.ts';
import {
  choice,
  type Field,
  flag,
  type MirrorOf,
  number,
  publicUrl,
  type Row,
  required,
  text,
  textBut,
} from '../row.ts';
import { both, exactly, list, object, record } from '../shape.ts';

const MARKETPLACES = ['google_shopping', 'amazon', 'ebay'];
const marketplaces: Field = {
  required: false,
  accepts: [MARKETPLACES, ['ebay']],
  refuses: [['corner_shop'], 'ebay', [7]],
};
const condition = choice(['new', 'open_box', 'refurbished', 'used', 'for_parts']);
const country = textBut(['us', 'DE'], ['usa', 'u']);
const limit = number({ min: 1, max: 50 });
const sorts = ['relevance', 'price_asc', 'price_desc', 'rating', 'reviews', 'discount'];

export const commerceRows: readonly Row[] = [
  {
    path: '/shop/search',
    price: [
      { request: {}, price: '0.02' },
      { request: { marketplaces: ['amazon'] }, price: '0.0067' },
      { request: { marketplaces: ['google_shopping', 'ebay'] }, price: '0.0134' },
      { request: { marketplaces: MARKETPLACES }, price: '0.02' },
      // Amazon is skipped, and not paid for.
      { request: { condition: 'used' }, price: '0.0134' },
      { request: { condition: 'refurbished', marketplaces: ['amazon', 'ebay'] }, price: '0.0067' },
      { request: { condition: 'open_box' }, price: '0.02' },
    ],
    listed: { minPrice: 0.0067 },
    furtherNetworks: 4,
    fields: {
      query: required(text('brass ship lantern')),
      marketplaces,
      price_min: number({ example: 10 }),
      price_max: number({ example: 100 }),
      condition,
      sort: choice([...sorts, 'newest']),
      country,
      limit,
    },
    result: commerceSearch,
    more: [
      {
        request: { marketplaces: ['ebay'], condition: 'used', sort: 'price_asc', limit: 1 },
        price: '0.0067',
        result: both(commerceSearch, record({ results: list(object, { length: 1 }) })),
        on: 'chain-e',
      },
    ],
  },
  {
    path: '/shop/lens',
    price: [
      { request: {}, price: '0.02' },
      { request: { mode: 'identify' }, price: '0.02' },
      { request: { mode: 'shop' }, price: '0.04' },
    ],
    listed: { minPrice: 0.02 },
    furtherNetworks: 4,
    fields: {
      image_url: required(publicUrl()),
      mode: choice(['identify', 'shop']),
      q: text('brass'),
      price_min: number({ example: 10 }),
      price_max: number({ example: 100 }),
      condition,
      sort: { ...choice(sorts), refuses: ['newest', 7] },
      country,
      limit,
    },
    rules: {
      accepts: [
        { mode: 'shop', marketplaces: ['ebay'] },
        { mode: 'shop', marketplaces: ['amazon', 'ebay'], condition: 'used' },
      ],
      refuses: [
        { mode: 'shop', marketplaces: ['corner_shop'] },
        { mode: 'shop', marketplaces: ['amazon'], condition: 'used' },
      ],
    },
    result: imageSearch,
    more: [{ request: { mode: 'shop' }, price: '0.04', result: imageSearchInShops, on: 'chain-d' }],
  },
  {
    path: '/tiktok/product',
    price: '0.015',
    furtherNetworks: 2,
    fields: {
      url: required(
        textBut(
          ['https://www.tiktok.com/shop/pdp/wool-sweater/1729587769570529799'],
          ['https://example.com/shop/pdp/wool-sweater/1729587769570529799', 'not an address'],
        ),
      ),
      region: { ...choice(['US']), refuses: ['GB', 'us', 7] },
      raw: flag(),
    },
    result: storefrontProduct,
    more: [
      { request: { raw: true }, result: both(storefrontProduct, record({ raw: object })) },
      {
        request: { url: 'https://www.tiktok.com/shop/pdp/delisted/1729587769570529799' },
        result: record({ found: exactly(false) }),
      },
    ],
  },
  {
    path: '/tiktok/search',
    price: '0.015',
    furtherNetworks: 2,
    fields: {
      query: required(text('wool sweater')),
      region: choice(['US', 'GB', 'ID', 'MY', 'SG', 'TH', 'VN', 'PH', 'JP', 'DE', 'FR', 'IT', 'ES', 'IE', 'MX', 'BR']),
      page: number({ min: 1, example: 2 }),
      raw: flag(),
    },
    result: storefrontSearch,
    more: [{ request: { region: 'JP', raw: true }, result: both(storefrontSearch, record({ raw: object })) }],
  },
];

const venue = '/ai/prediction-market/venue-a';
const mirrors: readonly MirrorOf[] = [
  { network: 'chain-c', prefix: 'chain-c-main' },
  { network: 'chain-e', prefix: 'chain-e' },
];
const category = number({ example: 2 });

/** `marketId`: a market that the venue has open. */
export const predictionRows = (marketId: string): readonly Row[] => [
  {
    path: `${venue}/market-intel`,
    price: '0.05',
    fields: { market_id: required(text(marketId)) },
    result: predictionIntel,
    mirrors,
  },
  {
    path: `${venue}/alpha-feed`,
    price: '0.10',
    fields: {
      category_id: category,
      limit: number({ min: 1, max: 20, default: 10 }),
      min_confidence: number({ min: 0, max: 1, step: 0.01 }),
    },
    result: alphaFeed,
    mirrors,
  },
  {
    path: `${venue}/market-list`,
    price: '0.01',
    fields: {
      category_id: category,
      limit: number({ min: 1, max: 25, default: 25 }),
      page: number({ min: 1, default: 1 }),
    },
    result: predictionList(1, 25),
    more: [{ request: { limit: 2, page: 2 }, result: predictionList(2, 2) }],
    mirrors,
  },
];
