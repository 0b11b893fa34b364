/**
 * Limitless Exchange with a fixed set of markets: order books, pools and one group. Paged as the provider pages.
 * Read on 2026-11-22 in the types of `@limitless-exchange/sdk` 1.1.0; categories, pages and the order book's units in the
 * provider's own web client, github limitless-labs-group/Limitless-Exchange at baf2227 (src/types, src/services,
 * clob/orderbook.tsx). That it refuses pages of more than 25 is what its consumers say: its client asks for no more.
 */
import { digest, seeded } from '../../examples/seed.ts';
import { type Double, type DoubleKind, type DoubleRequest, jsonAnswer } from './double.ts';

export const limitlessDouble: DoubleKind = { adapter: 'limitless', open };

const LARGEST_PAGE = 25;
const DAY_MS = 24 * 60 * 60_000;
/** The market of the catalogue's example. */
const FIRST_SLUG = 'lens-turns-before-june-1760000000000';
const CATEGORIES = [
  { id: 1, name: 'Crypto', priority: 1 },
  { id: 2, name: 'Economy', priority: 2 },
  { id: 3, name: 'Culture', priority: null },
] as const;
const COLLATERAL = { symbol: 'USDC', decimals: 6, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' };

const questions = [
  'Will the lens turn before June?',
  'Will the ferry line reopen this year?',
  'Will the central bank cut rates at its next meeting?',
  'Will the index close above its record this month?',
  'Will the bridge be finished on schedule?',
  'Will the token trade above its last high?',
  'Will the film win best picture?',
] as const;

/** With `id` and `slug`, and for a group its outcomes in `markets`. */
interface ListedMarket {
  readonly [field: string]: unknown;
  readonly id: number;
  readonly slug: string;
  readonly categoryId: number;
  readonly tradeType: 'amm' | 'clob';
  readonly markets?: readonly ListedMarket[];
}

function open(): Double {
  const markets = Array.from({ length: 40 }, (_, index) => listed(index));
  const all = markets.flatMap((market) => [market, ...(market.markets ?? [])]);
  return {
    isBilled: ({ method, path }) => method === 'GET' && path !== '/categories',
    answer(request) {
      const { path, query } = request;
      if (path === '/categories') return jsonAnswer(200, CATEGORIES);
      const active = /^\/markets\/active(?:\/(\d+))?$/.exec(path);
      if (active) return page(markets, active[1], query);
      const [, slug, book] = /^\/markets\/([A-Za-z0-9_-]+)(\/orderbook)?$/.exec(path) ?? [];
      const market = all.find((listing) => listing.slug === slug || String(listing.id) === slug);
      if (market === undefined) return notFound(request);
      if (book === undefined) return jsonAnswer(200, shown(market));
      return market.tradeType === 'clob' ? jsonAnswer(200, orders(market)) : badRequest('Market is not a CLOB market');
    },
    errorBody: (status) =>
      status === 429
        ? { statusCode: 429, message: 'ThrottlerException: Too Many Requests' }
        : { statusCode: 500, message: 'Internal server error' },
    refuse: notFound,
  };
}

const notFound = ({ path }: DoubleRequest) =>
  jsonAnswer(404, { statusCode: 404, message: `Cannot find ${path}`, error: 'Not Found' });

const badRequest = (message: string) => jsonAnswer(400, { statusCode: 400, message: [message], error: 'Bad Request' });

function page(markets: readonly ListedMarket[], categoryId: string | undefined, query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? LARGEST_PAGE);
  const number = Number(query.get('page') ?? 1);
  if (!(limit >= 1 && limit <= LARGEST_PAGE)) return badRequest(`limit must not be greater than ${LARGEST_PAGE}`);
  if (!(number >= 1)) return badRequest('page must not be less than 1');
  const wanted = markets.filter((market) => categoryId === undefined || market.categoryId === Number(categoryId));
  const data = wanted.slice((number - 1) * limit, number * limit);
  return jsonAnswer(200, { data: data.map(shown), totalMarketsCount: wanted.length });
}

/** A market names its categories, not their ids. */
function shown({ categoryId: _, markets, ...market }: ListedMarket): object {
  return { ...market, ...(markets && { markets: markets.map(shown) }) };
}

/** Every seventh market is a pool, whose prices are on its chain alone, the fifth a group of three. */
function listed(index: number): ListedMarket {
  if (index % 7 === 6) return { ...market(index, question(index)), tradeType: 'amm', ...poolFacts(index) };
  const whole = market(index, question(index));
  if (index !== 4) return { ...whole, ...bookFacts(index) };
  const outcomes = ['North span', 'South span', 'Both spans'].map((title, place) => {
    const number = 400 + place;
    return {
      ...market(number, title),
      ...bookFacts(number),
      categoryId: whole.categoryId,
      categories: whole.categories,
      orderInGroup: place,
    };
  });
  return { ...whole, title: 'Which part of the bridge opens first?', marketType: 'group', markets: outcomes };
}

const question = (index: number): string => {
  const round = Math.floor(index / questions.length);
  return `${questions[index % questions.length]}${round === 0 ? '' : ` (round ${round + 1})`}`;
};

function market(index: number, title: string): ListedMarket {
  const category = CATEGORIES[index % CATEGORIES.length] ?? CATEGORIES[0];
  const ends = (Math.floor(Date.now() / DAY_MS) + 10 + index) * DAY_MS;
  const words = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const slug = index === 0 ? FIRST_SLUG : `${words}-${digest(String(index), 8)}`;
  return {
    id: 40_000 + index,
    slug,
    title,
    proxyTitle: null,
    description: `<p>Resolves YES if official sources report it: ${title}</p>`,
    collateralToken: COLLATERAL,
    expirationDate: new Date(ends).toDateString(),
    expirationTimestamp: ends,
    expired: false,
    status: 'FUNDED',
    categories: [category.name],
    categoryId: category.id,
    tags: ['Daily'],
    creator: { name: 'Limitless', imageURI: null, link: null },
    createdAt: new Date(ends - 60 * DAY_MS).toISOString(),
    updatedAt: new Date(ends - 20 * DAY_MS).toISOString(),
    priorityIndex: 0,
    metadata: { fee: true, isBannered: false },
    tradeType: 'clob',
    marketType: 'single',
    winningOutcomeIndex: null,
  };
}

function bookFacts(index: number) {
  const random = seeded(`market ${index}`);
  const yes = random.integer(50, 950) / 1000;
  return { ...volumeFacts(random.integer(1_000, 900_000)), prices: [yes, Math.round((1 - yes) * 1000) / 1000] };
}

function poolFacts(index: number) {
  const random = seeded(`pool ${index}`);
  const liquidity = random.integer(500, 50_000);
  return {
    ...volumeFacts(random.integer(1_000, 90_000)),
    liquidity: String(liquidity * 1e6),
    liquidityFormatted: liquidity.toFixed(6),
  };
}

const volumeFacts = (volume: number) => ({ volume: String(volume * 1e6), volumeFormatted: volume.toFixed(6) });

function orders({ slug, prices }: ListedMarket) {
  const [yes = 0.5] = Array.isArray(prices) ? (prices as number[]) : [];
  const random = seeded(`book ${slug}`);
  const side = (name: 'BUY' | 'SELL', away: number) =>
    Array.from({ length: 6 }, (_, place) => ({
      price: Math.round((yes + away * (place + 1)) * 1000) / 1000,
      size: random.integer(10, 5000) * 1e6,
      side: name,
    })).filter(({ price }) => price > 0 && price < 1);
  return {
    bids: side('BUY', -0.005),
    asks: side('SELL', 0.005),
    tokenId: digest(slug, 40),
    adjustedMidpoint: yes,
    maxSpread: '0.03',
    minSize: '100000000',
    lastTradePrice: yes,
  };
}
