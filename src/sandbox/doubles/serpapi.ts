/**
 * SerpApi: searches at Google Shopping, Amazon and eBay, and Google Lens. Offers are made from the words searched for.
 * Read on 2026-11-22: parameters in github serpapi/serpapi-mcp at 11cbc46 (engines); at serpapi.com, statuses and errors
 * in search-errors and api-status-and-error-codes, rows in shopping-results, ebay-organic-results,
 * google-lens-visual-matches-api and google-lens-exact-matches-api. Of amazon-organic-results the first row's beginning
 * alone: Amazon's prices and `link_clean`, eBay's `seller` and `product_id`, and Google Lens's `related_content` and
 * `exact_matches` of a row are as consumers read them.
 */
import { digest, type Seeded, seeded } from '../../examples/seed.ts';
import { type Double, type DoubleAnswer, type DoubleKind, type DoubleRequest, jsonAnswer } from './double.ts';

export const serpapiDouble: DoubleKind = { adapter: 'serpapi', open };

/** Searches for these words find nothing. */
const NOTHING = /\bnothing\b|zzz/i;
const OFFERS = 12;

const editions = ['Classic', 'Pro', 'Mini', 'Set of 2', 'Travel Edition', 'Original', '2026 Model', 'Bundle'] as const;
const shops = ['Harbour Goods', 'Lamp & Rope', 'Northern Supply', 'Quayside Store'] as const;
const ebayConditions: Readonly<Record<string, string>> = {
  '1000': 'Brand New',
  '1500': 'Open Box',
  '2000': 'Certified - Refurbished',
  '3000': 'Pre-Owned',
  '7000': 'Parts Only',
};

interface Wanted {
  words: string;
  min: number;
  max: number;
}

function open(): Double {
  return {
    unauthorized(request) {
      if (request.query.get('api_key')?.startsWith('sandbox-')) return undefined;
      return jsonAnswer(401, {
        error: 'Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key',
      });
    },
    isBilled: ({ method, path }) => method === 'GET' && path === '/search.json',
    answer(request) {
      if (request.path !== '/search.json') return jsonAnswer(404, { error: 'Not found' });
      return search(request.query);
    },
    errorBody: (status) =>
      status === 429
        ? { error: 'Your account has run out of searches.' }
        : {
            search_metadata: { id: digest('failed', 24), status: 'Error' },
            error: "We couldn't get valid results for this search. Please try again later.",
          },
    refuse: (request: DoubleRequest) =>
      jsonAnswer(400, { error: `Unsupported value for the ${request.query.get('engine')} engine.` }),
  };
}

const engines: Readonly<Record<string, (query: URLSearchParams) => Record<string, unknown> | undefined>> = {
  google_shopping: googleShopping,
  amazon,
  ebay,
  google_lens: googleLens,
};

const queryNames: Readonly<Record<string, string>> = {
  google_shopping: 'q',
  amazon: 'k',
  ebay: '_nkw',
  google_lens: 'url',
};

function search(query: URLSearchParams): DoubleAnswer {
  const engine = query.get('engine') ?? '';
  const find = engines[engine];
  if (find === undefined) return jsonAnswer(400, { error: `Unsupported \`${engine}\` search engine.` });
  const parameters = Object.fromEntries([...query].filter(([name]) => name !== 'api_key'));
  const found = find(query);
  if (found === undefined) return jsonAnswer(400, { error: `Missing query \`${queryNames[engine]}\` parameter.` });
  const id = digest(JSON.stringify(parameters), 24);
  const metadata = {
    id,
    status: 'Success',
    json_endpoint: `https://serpapi.com/searches/${id}.json`,
    total_time_taken: 1.2,
  };
  return jsonAnswer(200, { search_metadata: metadata, search_parameters: parameters, ...found });
}

/** A search that finds nothing has the status of one that finds something. */
const nothing = (engine: string, list: string) => ({
  search_information: { [`${list}_state`]: 'Fully empty' },
  error: `${engine} hasn't returned any results for this query.`,
});

/** Twelve offers within the price bounds; the same words give the same ones at every marketplace. */
function offers({ words, min, max }: Wanted, engine: string): { random: Seeded; title: string; price: number }[] {
  return Array.from({ length: OFFERS }, (_, index) => {
    const random = seeded(`${engine} ${words} ${index}`);
    const edition = editions[index % editions.length] ?? editions[0];
    const name = words.replaceAll(/(^|\s)\S/g, (letter) => letter.toUpperCase());
    return { random, title: `${name} ${edition}`, price: random.integer(900, 19_900) / 100 };
  }).filter(({ price }) => price >= min && price <= max);
}

function wantedOf(query: URLSearchParams, words: string, min: string, max: string): Wanted | undefined {
  const text = query.get(words);
  if (text === null || text === '') return undefined;
  return { words: text, min: Number(query.get(min) ?? 0), max: Number(query.get(max) ?? Number.POSITIVE_INFINITY) };
}

/** Lowest or highest first, where the marketplace was asked for it. */
function ordered<Row extends { price: number }>(
  rows: Row[],
  sort: string | null,
  ascending: string,
  descending: string,
): Row[] {
  if (sort === ascending) return rows.sort((one, other) => one.price - other.price);
  return sort === descending ? rows.sort((one, other) => other.price - one.price) : rows;
}

const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

const thumbnail = (text: string): string => `https://images.example/${digest(text, 12)}.jpg`;

/** Some things are marked down. */
function formerPrice(price: number, random: Seeded) {
  if (random.number() < 0.6) return {};
  const extracted = Math.round(price * 125) / 100;
  return { old_price: dollars(extracted), extracted_old_price: extracted };
}

function googleShopping(query: URLSearchParams) {
  const wanted = wantedOf(query, 'q', 'min_price', 'max_price');
  if (wanted === undefined || NOTHING.test(wanted.words))
    return wanted && nothing('Google Shopping', 'shopping_results');
  const used = / (used|refurbished|open box|for parts)$/.exec(wanted.words)?.[1];
  const rows = ordered(offers(wanted, 'google'), query.get('sort_by'), '1', '2');
  return {
    shopping_results: rows.map(({ random, title, price }, index) => ({
      position: index + 1,
      title,
      product_link: `https://www.google.com/shopping/product/${random.integer(1e9, 9e9)}`,
      product_id: String(random.integer(1e9, 9e9)),
      source: random.pick(shops),
      price: dollars(price),
      extracted_price: price,
      ...formerPrice(price, random),
      ...(used !== undefined && { second_hand_condition: used }),
      rating: random.integer(30, 50) / 10,
      reviews: random.integer(3, 4000),
      thumbnail: thumbnail(title),
      delivery: 'Free delivery',
    })),
  };
}

function amazon(query: URLSearchParams) {
  const wanted = wantedOf(query, 'k', '', '');
  if (wanted === undefined || NOTHING.test(wanted.words)) return wanted && nothing('Amazon', 'organic_results');
  const rows = ordered(offers(wanted, 'amazon'), query.get('s'), 'price-asc-rank', 'price-desc-rank');
  return {
    organic_results: rows.map(({ random, title, price }, index) => {
      const asin = `B0${digest(`${title}${index}`, 8).toUpperCase()}`;
      // Some listings show no price until one signs in.
      const priced = random.number() < 0.9 && {
        price: dollars(price),
        extracted_price: price,
        ...formerPrice(price, random),
      };
      return {
        position: index + 1,
        asin,
        title,
        link: `https://www.amazon.com/dp/${asin}/ref=sr_1_${index + 1}`,
        link_clean: `https://www.amazon.com/dp/${asin}/`,
        ...priced,
        rating: random.integer(30, 50) / 10,
        reviews: random.integer(3, 40_000),
        thumbnail: thumbnail(asin),
        delivery: ['FREE delivery Tomorrow', 'Or fastest delivery Today'],
      };
    }),
  };
}

function ebay(query: URLSearchParams) {
  const wanted = wantedOf(query, '_nkw', '_udlo', '_udhi');
  if (wanted === undefined || NOTHING.test(wanted.words)) return wanted && nothing('eBay', 'organic_results');
  const condition = ebayConditions[query.get('LH_ItemCondition')?.split('|')[0] ?? ''];
  const rows = ordered(offers(wanted, 'ebay'), query.get('_sop'), '2', '3');
  return {
    organic_results: rows.map(({ random, title, price }, index) => {
      const amount = { raw: dollars(price), extracted: price };
      const upper = Math.round(price * 150) / 100;
      return {
        position: index + 1,
        title,
        link: `https://www.ebay.com/itm/${random.integer(1e11, 9e11)}`,
        product_id: String(random.integer(1e11, 9e11)),
        condition: condition ?? random.pick(['Brand New', 'Pre-Owned']),
        price: random.number() < 0.8 ? amount : { from: amount, to: { raw: dollars(upper), extracted: upper } },
        ...(random.number() < 0.3 && { old_price: { raw: dollars(upper), extracted: upper, discount: 33 } }),
        shipping: random.number() < 0.5 ? 'Free delivery' : { raw: '+$9.99 delivery', extracted: 9.99 },
        thumbnail: thumbnail(title),
        seller: {
          username: random.pick(['harbour_finds', 'old_lamps', 'keeper77']),
          reviews: random.integer(10, 9000),
          positive_feedback_in_percentage: 99.1,
        },
      };
    }),
  };
}

function googleLens(query: URLSearchParams) {
  const url = query.get('url');
  if (url === null || url === '') return undefined;
  if (NOTHING.test(url)) return nothing('Google Lens', 'visual_matches');
  const name = (/([^/]+?)(?:[.]\w+)?(?:[?#].*)?$/.exec(url)?.[1] ?? 'thing').replaceAll(/[-_]+/g, ' ');
  const words = [name, query.get('q') ?? ''].join(' ').trim();
  if (query.get('type') === 'exact_matches') return exactMatches(words);
  return {
    visual_matches: offers({ words, min: 0, max: Number.POSITIVE_INFINITY }, 'lens').map(
      ({ random, title, price }, index) => ({
        position: index + 1,
        title,
        link: `https://${random.pick(['harbour-goods', 'lamp-and-rope'])}.example/${digest(title, 8)}`,
        source: random.pick(shops),
        thumbnail: thumbnail(title),
        image: thumbnail(`${title} large`),
        exact_matches: index === 0 && random.number() < 0.5,
        ...(random.number() < 0.7 && {
          price: { value: `${dollars(price)}*`, extracted_value: price, currency: '$' },
          in_stock: random.number() < 0.8,
        }),
        ...(random.number() < 0.5 && { rating: random.integer(30, 50) / 10, reviews: random.integer(3, 900) }),
      }),
    ),
    related_content: [
      { query: words, link: 'https://www.google.com/search', thumbnail: thumbnail(words) },
      { query: `antique ${words}`, link: 'https://www.google.com/search', thumbnail: thumbnail(`antique ${words}`) },
      { query: words, link: 'https://www.google.com/search', thumbnail: thumbnail(words) },
    ],
  };
}

/** Pages with the very picture, of which no prices are listed. */
const exactMatches = (words: string) => ({
  exact_matches: offers({ words, min: 0, max: Number.POSITIVE_INFINITY }, 'exact').map(({ random, title }, index) => ({
    position: index + 1,
    title,
    source: random.pick(shops),
    link: `https://harbour-goods.example/${digest(title, 8)}`,
    thumbnail: thumbnail(title),
    actual_image_width: 800,
    actual_image_height: 600,
  })),
});
