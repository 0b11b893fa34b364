/**
 * Social Fetch: profiles and posts on X, products of TikTok Shop. Everything is made from the name that is asked for.
 * Read on 2026-11-22 at socialfetch.dev/docs: errors (the envelopes, and `found`, `not_found` and `private` as the values
 * of `lookupStatus` for these lookups), api/v1/twitter/profiles/handle/get and .../tweets/get, and the beginning of
 * api/v1/tiktok/shop/products/search/get, up to a card's `price.currencyCode`; routes and parameters in github
 * social-freak-ltd/n8n-nodes-socialfetch at 01481fe. The rest of a card's price and the whole of
 * api/v1/tiktok/products/get were not to be had: these names are guesses. Read on 2026-11-26 there:
 * api/v1/tiktok/products/reviews/get, with names up to a review's `verifiedPurchase`; of what follows the descriptions
 * alone (who reviewed, by an id, a display name and a picture), so that `reviewer` and its names are guesses.
 */
import { digest, type Seeded, seeded } from '../../examples/seed.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasHeaderKey,
  jsonAnswer,
} from './double.ts';

export const socialfetchDouble: DoubleKind = { adapter: 'socialfetch', open };

const currencies: Readonly<Record<string, string>> = {
  US: 'USD',
  GB: 'GBP',
  DE: 'EUR',
  FR: 'EUR',
  IT: 'EUR',
  ES: 'EUR',
  IE: 'EUR',
  ID: 'IDR',
  MY: 'MYR',
  MX: 'MXN',
  PH: 'PHP',
  SG: 'SGD',
  TH: 'THB',
  VN: 'VND',
  BR: 'BRL',
  JP: 'JPY',
};
const PAGE = 10;
const PAGES = 3;
const DAY_SECONDS = 86_400;
/** The newest post is some days old, the oldest some months. */
const DAYS_BETWEEN_POSTS = 20;

const posts = [
  'Spent the morning polishing brass. Nothing teaches patience like brass.',
  'The old lens is back in the tower after eleven years in crates.',
  'Storm report: gusts of 62 knots at the point, no damage, plenty of tea.',
  'Unpopular opinion: paper charts still have a place on every bridge.',
  'We are hiring a second keeper. Must like stairs.',
  'Thread: how a fog signal works, and why it sounds so sad.',
] as const;

function open(): Double {
  return {
    unauthorized(request) {
      if (hasHeaderKey(request, 'x-api-key')) return undefined;
      return jsonAnswer(401, problem('unauthorized', 'Missing or invalid API key'));
    },
    isBilled: ({ method, path }) => method === 'GET' && path.startsWith('/v1/'),
    answer(request) {
      const [, handle, list] = /^\/v1\/twitter\/profiles\/([^/]+)(\/tweets)?$/.exec(request.path) ?? [];
      if (handle !== undefined) return list === undefined ? profileOf(handle) : tweetsOf(handle);
      switch (request.path) {
        case '/v1/tiktok/shop/products/search':
          return searchProducts(request.query);
        case '/v1/tiktok/products':
          return productAt(request.query);
        case '/v1/tiktok/products/reviews':
          return reviewsAt(request.query);
        default:
          return jsonAnswer(404, problem('route_not_found', `No route ${request.path}`));
      }
    },
    errorBody: (status) =>
      status === 429
        ? problem('rate_limited', 'Too many requests')
        : problem('internal_error', 'Something went wrong on our side'),
    refuse: (request: DoubleRequest) =>
      jsonAnswer(400, problem('invalid_request', `Invalid value for ${request.path}`)),
  };
}

const problem = (code: string, message: string) => ({
  error: { code, message, requestId: `req_${digest(code + message, 12)}` },
});

const found = (data: Record<string, unknown>): DoubleAnswer =>
  jsonAnswer(200, {
    data,
    meta: { requestId: `req_${digest(JSON.stringify(data), 12)}`, creditsCharged: 1, version: 'v1' },
  });

/** Names say what becomes of them: `nobody...` is unknown, `private...` private, `silent...` has no posts, `dormant...` none of this year. */
const isUnknown = (handle: string): boolean => /^@?nobody/i.test(handle);
const isPrivate = (handle: string): boolean => /^@?private/i.test(handle);
const isDormant = (handle: string): boolean => /^@?dormant/i.test(handle);
const isSilent = (handle: string): boolean => /^@?silent/i.test(handle);

function profileOf(given: string): DoubleAnswer {
  const handle = given.replace(/^@/, '');
  if (isUnknown(handle)) return found({ lookupStatus: 'not_found', profile: null, metrics: null });
  const random = seeded(handle.toLowerCase());
  const profile = {
    platform: 'twitter',
    handle,
    displayName: handle.replaceAll(/[_\d]+/g, ' ').trim() || handle,
    bio: random.pick(['Keeper of light.', 'Tides, ropes and tea.', 'Writing from the end of the pier.']),
    avatarUrl: `https://images.example/avatars/${digest(handle, 12)}.jpg`,
    bannerUrl: null,
    verified: false,
    blueVerified: random.number() < 0.5,
    profileUrl: `https://x.com/${handle}`,
    privateAccount: isPrivate(handle),
    accountCreatedAt: 1_400_000_000,
  };
  const metrics = { followers: random.integer(50, 90_000), following: random.integer(10, 900), tweets: posts.length };
  return found({ lookupStatus: isPrivate(handle) ? 'private' : 'found', profile, metrics });
}

function tweetsOf(given: string): DoubleAnswer {
  const handle = given.replace(/^@/, '');
  if (isUnknown(handle) || isPrivate(handle)) return found({ lookupStatus: 'not_found', profile: null, tweets: [] });
  if (isSilent(handle)) return found({ lookupStatus: 'found', profile: null, tweets: [] });
  const random = seeded(`${handle.toLowerCase()} tweets`);
  // Popular ones first, so not by date.
  const today = Math.floor(Date.now() / 1000 / DAY_SECONDS) - (isDormant(handle) ? 400 : 0);
  const places = [3, 0, 5, 1, 4, 2];
  const tweets = posts.map((text, index) => {
    const day = today - DAYS_BETWEEN_POSTS * (places[index] ?? 0) - random.integer(1, DAYS_BETWEEN_POSTS - 1);
    const id = String(random.integer(1e15, 9e15));
    return {
      id,
      url: `https://x.com/${handle}/status/${id}`,
      conversationId: id,
      createdAt: day * DAY_SECONDS,
      text,
      metrics: { likes: random.integer(1, 9000), retweets: random.integer(0, 900), replies: random.integer(0, 300) },
    };
  });
  return found({ lookupStatus: 'found', profile: null, tweets });
}

function searchProducts(query: URLSearchParams): DoubleAnswer {
  const words = query.get('query') ?? '';
  const region = query.get('region') ?? 'US';
  const page = Number(query.get('page') ?? 1);
  if (words === '') return jsonAnswer(400, problem('invalid_request', 'query is required'));
  if (currencies[region] === undefined) return jsonAnswer(400, problem('invalid_request', 'region is not supported'));
  const isEmpty = /\bnothing\b/i.test(words) || page > PAGES;
  const products = Array.from({ length: isEmpty ? 0 : PAGE }, (_, index) => {
    const place = (page - 1) * PAGE + index;
    return card(`${words} no. ${place + 1}`, region, seeded(`${words} ${region} ${place}`));
  });
  return found({ query: words, products, page: { number: page, hasMore: !isEmpty && page < PAGES } });
}

function productAt(query: URLSearchParams): DoubleAnswer {
  const url = query.get('url') ?? '';
  const region = query.get('region') ?? 'US';
  if (!url.startsWith('https://'))
    return jsonAnswer(400, problem('invalid_request', 'url must be a TikTok Shop address'));
  if (/gone|delisted/.test(url)) return found({ lookupStatus: 'not_found', product: null });
  const random = seeded(url);
  const name = /\/pdp\/([a-z0-9-]+)\//i.exec(url)?.[1]?.replaceAll('-', ' ') ?? 'product';
  const product = card(name, region, random);
  const skus = ['Small', 'Medium', 'Large'].map((size) => ({
    id: String(random.integer(1e15, 9e15)),
    name: size,
    price: { salePrice: product.price.salePrice, originalPrice: product.price.originalPrice },
    stock: random.integer(0, 40),
  }));
  return found({
    lookupStatus: 'found',
    product: {
      ...product,
      id: /\/(\d{6,})/.exec(url)?.[1] ?? product.id,
      url,
      category: 'Home Supplies',
      images: [product.imageUrl, `${product.imageUrl}?2`].map((address) => ({ url: address, width: 800, height: 800 })),
      specifications: [{ name: 'Material', value: 'Wool' }],
      skus,
      seller: { ...product.seller, rating: 4.8, location: 'United States', productCount: random.integer(3, 300) },
    },
  });
}

/** An address says what becomes of it: `gone` and `delisted` are unknown, `unreviewed` has no reviews. */
function reviewsAt(query: URLSearchParams): DoubleAnswer {
  const url = query.get('url') ?? '';
  const productId = query.get('productId') ?? /\/(\d{6,})/.exec(url)?.[1];
  if (url === '' && productId === undefined)
    return jsonAnswer(400, problem('invalid_request', 'url or productId is required'));
  const page = { hasMore: false, nextPage: null };
  if (/gone|delisted/.test(url)) return found({ lookupStatus: 'not_found', reviews: [], page });
  const written = [
    { text: 'Warm and well made.', name: 'k**r', rating: 5 },
    { text: null, name: 'm**a', rating: 5 },
    { text: 'Arrived late, but good.', name: 's**n', rating: 4 },
  ];
  const reviews = written.map(({ text, name, rating }) => {
    const id = digest(`${url}${productId}${name}`, 16);
    const reviewer = { id, displayName: name, avatarUrl: `https://images.example/avatars/${id}.jpg` };
    const createdAt = '2026-09-02T08:00:00.000Z';
    return { id, productId: productId ?? id, skuId: null, rating, text, createdAt, verifiedPurchase: true, reviewer };
  });
  return found({ lookupStatus: 'found', reviews: /unreviewed/.test(url) ? [] : reviews, page });
}

function card(title: string, region: string, random: Seeded) {
  const original = random.integer(800, 9000) / 100;
  const sale = random.number() < 0.5 ? original : Math.round(original * 80) / 100;
  const id = String(random.integer(1e15, 9e15));
  const slug = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const imageUrl = `https://images.example/${digest(id, 12)}.jpg`;
  return {
    id,
    title: title.replaceAll(/(^|\s)\S/g, (letter) => letter.toUpperCase()),
    description: `${title}, as seen at the harbour.`,
    url: `https://www.tiktok.com/shop/pdp/${slug}/${id}`,
    imageUrl,
    image: { url: imageUrl, width: 800, height: 800 },
    shipFrom: region === 'US' ? 'United States' : 'China',
    trustLabel: null,
    labels: [{ text: 'Free shipping', type: 3 }],
    price: { currencyCode: currencies[region], salePrice: sale.toFixed(2), originalPrice: original.toFixed(2) },
    rating: random.integer(35, 50) / 10,
    reviewCount: random.integer(0, 5000),
    soldCount: random.integer(0, 90_000),
    seller: {
      id: String(random.integer(1e15, 9e15)),
      name: random.pick(['Harbour Knits', 'Pier Supply', 'Tide & Co']),
    },
  };
}
