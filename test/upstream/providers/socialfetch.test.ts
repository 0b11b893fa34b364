import t from 'tap';
import type { Adapter, Binding } from '../../../src/upstream/adapter.ts';
import { socialfetch } from '../../../src/upstream/providers/socialfetch/adapter.ts';
import { xAccount } from '../../../src/upstream/providers/socialfetch/client.ts';
import { storefrontDetail, storefrontProduct } from '../../../src/upstream/providers/socialfetch/products.ts';
import { openCallContext } from '../call-context.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const adapter = socialfetch as Adapter;
const upstream = { keys: { key: 'SOCIALFETCH_API_KEY' } };
const search = { adapter, upstream, options: { operation: 'tiktok-search' } };
const product = { adapter, upstream, options: { operation: 'tiktok-product' } };
const wanted = { query: 'wool sweater', region: 'US', page: 1 };
const listing = { url: 'https://www.tiktok.com/shop/pdp/wool-sweater/1729587769570529799', region: 'US' };

adapterContract(t, 'a search of the storefront', {
  ...search,
  input: wanted,
  refusal: 'invalid-input',
  result: {
    type: 'object',
    required: ['results', 'total_results', 'total_available', 'price_summary', 'cached'],
    properties: {
      results: {
        type: 'array',
        minItems: 10,
        items: {
          required: ['product_id', 'title', 'price'],
          properties: { price: { properties: { amount: { type: 'number' } } } },
        },
      },
      total_results: { const: 10 },
      cached: { const: false },
    },
    not: { required: ['raw'] },
  },
});
adapterContract(t, 'a product of the storefront', {
  ...product,
  input: listing,
  refusal: 'invalid-input',
  result: {
    type: 'object',
    required: ['product', 'found', 'cached'],
    properties: {
      found: { const: true },
      product: { type: 'object', required: ['skus', 'seller_detail', 'reviews', 'in_stock', 'specifications'] },
    },
  },
});

interface Answer {
  results: { price: { amount: number; currency: string } }[];
  found: boolean;
  product: unknown;
  cached: boolean;
  has_more: boolean;
  raw?: unknown;
}

t.test('a listing that is gone is an answer, not a failure', async (t) => {
  const { binding, context } = await openSetting(t, product);
  const url = 'https://www.tiktok.com/shop/pdp/gone/1729587769570529799';
  const answer = (await adapter.call({ url, region: 'US' }, binding, context)) as Answer;
  t.match(answer, { found: false, product: null, cached: false });
});

t.test('a listing that the provider is kept from is an answer as well, whatever it calls that', async (t) => {
  const { binding, context } = await openSetting(t, product);
  for (const lookupStatus of ['private', 'restricted', 'another']) {
    const url = `https://www.tiktok.com/shop/pdp/${lookupStatus}/1729587769570529799`;
    const kept = answering(binding, 200, { data: { lookupStatus, product: null } });
    t.match(await adapter.call({ url, region: 'US' }, kept, context), { found: false, product: null });
  }
});

t.test('raw is the whole answer as it came', async (t) => {
  const payload = {
    data: { lookupStatus: 'not_found', odd: [1, null] },
    meta: { requestId: 'req_1', creditsCharged: 1 },
  };
  const { binding, context } = await openSetting(t, product);
  const answer = await adapter.call({ ...listing, raw: true }, answering(binding, 200, payload), context);
  t.same((answer as Answer).raw, payload);
  const other = { ...listing, url: `${listing.url}0`, raw: true };
  const gone = { error: { code: 'not_found', message: 'Product not found', requestId: 'req_2' } };
  t.match(await adapter.call(other, answering(binding, 404, gone), context), { found: false, raw: gone });
});

t.test('a product has the reviews that the provider lists by another route, with text and author', async (t) => {
  const { binding, context, doubles } = await openSetting(t, product);
  const reviewed = (await adapter.call(listing, binding, context)) as Answer;
  t.match(reviewed.product, {
    reviews: [
      { text: 'Warm and well made.', author: 'k**r', rating: 5 },
      { text: 'Arrived late, but good.', author: 's**n', rating: 4 },
    ],
  });
  t.equal(doubles.calls()['the-upstream'], 2);
  t.match(await adapter.call(listing, binding, context), { cached: true, product: reviewed.product });
  t.equal(doubles.calls()['the-upstream'], 2, 'both are kept together');
  const other = { ...listing, url: 'https://www.tiktok.com/shop/pdp/unreviewed/1729587769570529799' };
  t.match(await adapter.call(other, binding, context), { found: true, product: { reviews: [] } });
  const gone = { ...listing, url: 'https://www.tiktok.com/shop/pdp/gone/1729587769570529799' };
  await adapter.call(gone, binding, context);
  t.equal(doubles.calls()['the-upstream'], 5, 'what is gone has no reviews to ask for');
});

t.test('a product whose reviews cannot be had is sold without, and they are asked for by the next call', async (t) => {
  const { binding, context } = await openSetting(t, product);
  const paths: string[] = [];
  let fails = true;
  const request = async (asked: Parameters<typeof binding.http.request>[0]) => {
    paths.push(asked.path);
    const response = await binding.http.request(asked);
    return fails && asked.path.endsWith('/reviews') ? { ...response, json: () => ({}) } : response;
  };
  const failing = { ...binding, http: { ...binding.http, request } };
  t.match(await adapter.call(listing, failing, context), { found: true, product: { reviews: [] } });
  fails = false;
  t.match(await adapter.call(listing, failing, context), { cached: false, product: { reviews: [{ author: 'k**r' }] } });
  t.same(paths.length, 4);
});

/** A binding whose next answer has this status and body. */
function answering(binding: Binding, status: number, body: object): Binding {
  const request = async (asked: Parameters<typeof binding.http.request>[0]) => {
    const response = await binding.http.request(asked);
    return { ...response, status, json: () => body };
  };
  return { ...binding, http: { ...binding.http, request } };
}

t.test('a 404 on a listing means it is gone, a route that is gone is a failure', async (t) => {
  const { binding, context } = await openSetting(t, product);
  const gone = answering(binding, 404, { error: { code: 'not_found', message: 'Product not found' } });
  t.match(await adapter.call(listing, gone, context), { found: false });
  const moved = answering(binding, 404, { error: { code: 'route_not_found' } });
  const problem = await problemOf(adapter.call({ ...listing, url: `${listing.url}?2` }, moved, context));
  t.equal(problem.failure, 'failed', 'nobody is charged for a product that was never looked for');
});

t.test('says truly whether an answer was read before, and keeps it five minutes', async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const { binding, doubles } = await openSetting(t, search);
  const context = openCallContext(t, { now: () => clock.now });
  const asked = async (input: object) => {
    const { cached } = (await adapter.call({ ...wanted, ...input }, binding, context)) as Answer;
    return cached;
  };
  t.equal(await asked({}), false);
  t.equal(await asked({}), true);
  t.equal(await asked({ raw: true }), true, 'the raw answer is the same one');
  t.equal(await asked({ region: 'GB' }), false);
  t.equal(await asked({ page: 2 }), false);
  t.equal(doubles.calls()['the-upstream'], 3);
  clock.now += 5 * 60_000;
  t.equal(await asked({}), false, 'five minutes later');
});

t.test('adds the untouched answer only when asked', async (t) => {
  const { binding, context } = await openSetting(t, product);
  const plain = (await adapter.call(listing, binding, context)) as Answer;
  const raw = (await adapter.call({ ...listing, raw: true }, binding, context)) as Answer;
  t.notOk('raw' in plain);
  t.match(raw.raw, { data: { lookupStatus: 'found', product: { title: String } }, meta: { requestId: String } });
});

t.test('prices are in the currency of the storefront', async (t) => {
  const { binding, context } = await openSetting(t, search);
  const answer = (await adapter.call({ ...wanted, region: 'JP' }, binding, context)) as Answer;
  t.same([...new Set(answer.results.map(({ price }) => price.currency))], ['JPY']);
});

t.test('a page after the last one is empty', async (t) => {
  const { binding, context } = await openSetting(t, search);
  const pages = [3, 4].map((page) => adapter.call({ ...wanted, page }, binding, context) as Promise<Answer>);
  const [last, after] = await Promise.all(pages);
  t.equal(last?.has_more, false);
  t.match(after, { results: [], has_more: false, total_results: 0, price_summary: { min: null, median: null } });
});

t.test('a list without one price is not sold', async (t) => {
  const { binding, context } = await openSetting(t, search);
  const products = [{ id: '1', title: 'Lantern', cost: 5 }];
  const problem = await problemOf(adapter.call(wanted, answering(binding, 200, { data: { products } }), context));
  t.equal(problem.failure, 'malformed');
});

t.test('reads a card under every name that is known, and works discounts out', async (t) => {
  const card = {
    id: 17,
    title: 'Lantern',
    price: { currencyCode: 'USD', salePrice: '$7.50', originalPrice: '1,000.00' },
  };
  t.match(storefrontProduct(card), {
    product_id: '17',
    price: { amount: 7.5, currency: 'USD' },
    original_price: 1000,
    discount_pct: 99,
    rating: null,
    badges: [],
  });
  const other = {
    productId: '17',
    title: 'Lantern',
    price: { current: 30, original: 40 },
    seller: { shopName: 'Pier' },
  };
  t.match(storefrontProduct(other), { price: { amount: 30 }, discount_pct: 25, seller: 'Pier' });
  t.match(storefrontProduct({ ...other, price: { current: 40, original: 40 } }), { discount_pct: null });
  t.equal(storefrontProduct({ id: '17' }), undefined);
});

t.test('prices and ratings are read as people of the storefront write them', (t) => {
  for (const [written, amount] of [
    ['12.99', 12.99],
    ['$1,299.00', 1299],
    ['12,99 €', 12.99],
    ['1.299,00 €', 1299],
    ['1\u202f299,5 €', 1299.5],
    ['R$ 1.299,90', 1299.9],
    ['Rp129.000', 129_000],
    ['1.299.000₫', 1_299_000],
    ['￥1,980', 1980],
    ['no price', null],
  ] as const) {
    const card = { id: '17', title: 'Lantern', price: { salePrice: written }, rating: '4.875' };
    t.match(storefrontProduct(card), { price: { amount }, rating: 4.875 }, written);
  }
  t.end();
});

t.test('is in stock where any variant is left, and does not guess', async (t) => {
  const detail = (skus: object[]) =>
    storefrontDetail({ product: { id: '1', title: 'Lantern', skus } }, 'https://tiktok.com/x');
  t.equal(detail([{ stock: 0 }, { stock: 2 }])?.in_stock, true);
  t.equal(detail([{ stock: 0 }])?.in_stock, false);
  t.equal(detail([{ name: 'Blue' }])?.in_stock, null);
  t.equal(detail([{ price: 9 }, { price: { salePrice: '8.50' } }])?.price.amount, 8.5, 'the cheapest variant');
});

t.test('reads an account with its newest posts first', async (t) => {
  const { binding, context } = await openSetting(t, search);
  const { profile, posts } = await xAccount(binding, 'lighthouse', context);
  t.match(profile, { handle: 'lighthouse', avatarUrl: /^https:/ });
  const times = posts.map(({ createdAt }) => createdAt ?? 0);
  t.same(
    times,
    [...times].sort((one, other) => other - one),
  );
});

t.test('an account that is unknown, private or silent is not found, and says which', async (t) => {
  const { binding, context } = await openSetting(t, search);
  for (const [handle, why] of [
    ['nobody1', /not an account/],
    ['private_one', /private/],
    ['silent1', /no public posts/],
  ] as const) {
    const problem = await problemOf(xAccount(binding, handle, context));
    t.match(problem, { failure: 'not-found', publicMessage: why }, handle);
  }
});
