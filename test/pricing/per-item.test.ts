import t from 'tap';
import type { Input } from '../../src/catalogue/types.ts';
import { perItem } from '../../src/pricing/per-item.ts';
import { adviceOn, compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';

const all = ['google_shopping', 'amazon', 'ebay'];
const marketplaces = { type: 'array', minItems: 1, items: { type: 'string', enum: all } };
const condition = { type: 'string', enum: ['new', 'open_box', 'refurbished', 'used', 'for_parts'] };
const shop = { properties: { query: { type: 'string' }, marketplaces, condition }, required: ['query'] };
const options = {
  by: 'marketplaces',
  amounts: ['0.0067', '0.0134', '0.02'],
  unless: { condition: { used: ['amazon'], refurbished: ['amazon'] } },
};

const withAll = (input: Input): Input => ({ ...input, marketplaces: all });

t.test('a price for each number of items', async (t) => {
  keepsItsPromises(t, perItem, { options, request: shop, bare: { query: '' }, more: withAll });
});

const mints = { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string' } };
const oneMore = (input: Input): Input => ({ ...input, mints: [...(input.mints as string[]), 'one more'] });

t.test('an amount an item', async (t) => {
  keepsItsPromises(t, perItem, {
    options: { by: 'mints', amount: '0.001' },
    request: { required: ['mints'], properties: { mints: { ...mints, maxItems: 5 } } },
    bare: { mints: ['one'] },
    more: oneMore,
  });
});

t.test('an amount an item, with a highest price in place of a bound', async (t) => {
  const { maxItems: _, ...unbounded } = mints;
  keepsItsPromises(t, perItem, {
    options: { by: 'mints', amount: '0.001', max: '0.0025' },
    request: { required: ['mints'], properties: { mints: unbounded } },
    bare: { mints: ['one'] },
    more: oneMore,
  });
});

t.test('a search costs 0.0067, 0.0134 or 0.02 for one, two or three marketplaces', async (t) => {
  const price = compiled(perItem, options, shop);
  const costs = (input: Input) => quoteOf(price, shop, { query: 'a camera', ...input });
  t.equal(costs({ marketplaces: ['ebay'] }), 6_700n);
  t.equal(costs({ marketplaces: ['ebay', 'amazon'] }), 13_400n);
  t.equal(costs({ marketplaces: all }), 20_000n);
  t.equal(costs({}), 20_000n);
  t.strictSame([price.min, price.max, price.listed, price.fixed], [6_700n, 20_000n, 20_000n, false]);
});

t.test('a marketplace that is not searched is not paid for', async (t) => {
  const price = compiled(perItem, options, shop);
  const costs = (input: Input) => quoteOf(price, shop, { query: 'a camera', ...input });
  t.equal(costs({ condition: 'used' }), 13_400n);
  t.equal(costs({ condition: 'refurbished' }), 13_400n);
  t.equal(costs({ condition: 'for_parts' }), 20_000n);
  t.equal(costs({ condition: 'used', marketplaces: ['amazon', 'ebay'] }), 6_700n);
  t.equal(costs({ condition: 'used', marketplaces: ['amazon'] }), 6_700n);
});

t.test('a marketplace named twice is paid for once', async (t) => {
  const price = compiled(perItem, options, shop);
  t.equal(quoteOf(price, shop, { query: 'a camera', marketplaces: ['ebay', 'ebay', 'ebay'] }), 6_700n);
});

t.test('a list that is left out counts as its default', async (t) => {
  const request = { properties: { marketplaces: { ...marketplaces, default: ['ebay'] } } };
  const price = compiled(perItem, { by: 'marketplaces', amounts: options.amounts }, request);
  t.equal(quoteOf(price, request, {}), 6_700n);
  t.equal(price.listed, 6_700n);
});

t.test('a list that is left out is listed as its default, and one that has to be sent at a single item', async (t) => {
  const listed = (list: object, required: readonly string[] = []) => {
    const request = { required, properties: { marketplaces: { ...marketplaces, ...list } } };
    return compiled(perItem, { by: 'marketplaces', amounts: options.amounts }, request).listed;
  };
  t.equal(listed({ default: ['ebay', 'amazon'] }), 13_400n);
  t.equal(listed({}), 20_000n);
  t.equal(listed({}, ['marketplaces']), 6_700n);
});

t.test('a list that is left out is all that may be in it, also where fewer can be sent', async (t) => {
  const request = { properties: { marketplaces: { ...marketplaces, maxItems: 2 } } };
  const price = compiled(perItem, { by: 'marketplaces', amounts: options.amounts }, request);
  t.equal(quoteOf(price, request, {}), 20_000n);
  t.equal(price.max, 20_000n);
});

t.test('the price is bounded by what a list can hold and by the highest price, whichever comes first', async (t) => {
  const { maxItems: _, ...unbounded } = mints;
  const bounds = (amount: string, list: object, max?: string) => {
    const request = { required: ['mints'], properties: { mints: list } };
    const price = compiled(perItem, { by: 'mints', amount, ...(max && { max }) }, request);
    return [price.min, price.max];
  };
  t.strictSame(bounds('0.001', mints), [1000n, 50_000n]);
  t.strictSame(bounds('0.001', mints, '0.02'), [1000n, 20_000n]);
  t.strictSame(bounds('0.001', mints, '0.06'), [1000n, 50_000n]);
  t.strictSame(bounds('0.001', unbounded, '0.06'), [1000n, 60_000n]);
  // What is free stays free.
  t.strictSame(bounds('0', unbounded, '0.06'), [0n, 0n]);
  t.strictSame(bounds('0', mints), [0n, 0n]);
});

t.test('a further item may be free', async (t) => {
  const price = compiled(perItem, { by: 'marketplaces', amounts: ['0.01', '0.01', '0.02'] }, shop);
  t.equal(quoteOf(price, shop, { query: '', marketplaces: ['ebay', 'amazon'] }), 10_000n);
});

t.test('items may be listed without their type', async (t) => {
  const properties = { marketplaces: { type: 'array', minItems: 1, items: { enum: all } } };
  const price = compiled(perItem, { by: 'marketplaces', amount: '0.01' }, { properties });
  t.strictSame([price.min, price.max, price.listed], [10_000n, 30_000n, 30_000n]);
});

t.test('refuses to price more items than a request can have', async (t) => {
  const price = compiled(perItem, options, shop);
  t.throws(() => price.quote({ marketplaces: [...all, 'etsy'] }), TypeError);
});

t.test('options that do not fit are found', async (t) => {
  const { unless: _, ...plain } = options;
  const withList = (list: object) => ({ ...shop, properties: { ...shop.properties, marketplaces: list } });
  t.strictSame(problemOf(perItem, { by: 'marketplaces' }, shop), {
    path: [],
    message: 'price needs either amount or amounts',
  });
  t.strictSame(problemOf(perItem, { ...plain, amount: '1' }, shop).path, []);
  t.strictSame(problemOf(perItem, { ...plain, by: 'shops' }, shop).path, ['by']);
  t.strictSame(problemOf(perItem, { ...plain, by: 'query' }, shop), {
    path: ['by'],
    message: 'price.by names query, which is not a list of strings',
  });
  const sizes = { type: 'array', minItems: 1, maxItems: 3, items: { type: 'integer' } };
  t.strictSame(problemOf(perItem, { by: 'sizes', amount: '1' }, { required: ['sizes'], properties: { sizes } }), {
    path: ['by'],
    message: 'price.by names sizes, which is not a list of strings',
  });
  t.strictSame(problemOf(perItem, { ...plain, amounts: ['0.0067', '0.0134'] }, shop), {
    path: ['amounts'],
    message: 'price.amounts has 2 prices, and request.properties.marketplaces allows 3 items',
  });
  t.strictSame(
    problemOf(perItem, plain, { ...withList({ ...marketplaces, maxItems: 2 }), required: ['query', 'marketplaces'] }),
    { path: ['amounts'], message: 'price.amounts has 3 prices, and request.properties.marketplaces allows 2 items' },
  );
  t.strictSame(problemOf(perItem, { ...plain, amounts: ['0.0067'] }, shop), {
    path: ['amounts'],
    message: 'price.amounts has 1 price, and request.properties.marketplaces allows 3 items',
  });
  t.strictSame(
    problemOf(perItem, plain, { ...withList({ ...marketplaces, maxItems: 1 }), required: ['query', 'marketplaces'] }),
    { path: ['amounts'], message: 'price.amounts has 3 prices, and request.properties.marketplaces allows 1 item' },
  );
  t.strictSame(problemOf(perItem, { ...plain, amounts: ['0.0067', '0.0134', '0.01'] }, shop), {
    path: ['amounts', '2'],
    message: 'price.amounts asks less for 3 items than for 2',
  });
  t.strictSame(problemOf(perItem, plain, withList({ ...marketplaces, minItems: 0 })), {
    path: ['by'],
    message: 'price.by names marketplaces, which can be an empty list',
  });
  const { minItems: ____, ...unsaid } = marketplaces;
  t.strictSame(problemOf(perItem, plain, withList(unsaid)), {
    path: ['by'],
    message: 'price.by names marketplaces, which can be an empty list',
  });
  t.strictSame(problemOf(perItem, { by: 'mints', amount: '1' }, { properties: { mints } }), {
    path: ['by'],
    message: 'price.by names mints, which can be left out, and how many items that stands for is unknown',
  });
  const { maxItems: __, ...unbounded } = mints;
  t.strictSame(
    problemOf(perItem, { by: 'mints', amount: '1' }, { required: ['mints'], properties: { mints: unbounded } }),
    { path: ['by'], message: 'price.by names mints, which has no bound: the price would have none either' },
  );
  t.strictSame(problemOf(perItem, { ...plain, unless: { state: { used: ['amazon'] } } }, shop).path, [
    'unless',
    'state',
  ]);
  t.strictSame(problemOf(perItem, { ...plain, unless: { condition: { usd: ['amazon'] } } }, shop), {
    path: ['unless', 'condition', 'usd'],
    message: 'price.unless.condition has usd, which request.properties.condition does not allow',
  });
  t.strictSame(problemOf(perItem, { ...plain, unless: { condition: { used: ['amazn'] } } }, shop), {
    path: ['unless', 'condition', 'used'],
    message: 'price.unless.condition.used has amazn, which request.properties.marketplaces.items does not allow',
  });
});

t.test('prices that do not fit are found with what would', async (t) => {
  const falling = { by: 'marketplaces', amounts: ['0.0067', '0.0134', '0.01'] };
  t.equal(adviceOn(perItem, falling, shop), '0.0134 or more');
  const { maxItems: _, ...unbounded } = mints;
  const free = { required: ['mints'], properties: { mints: unbounded } };
  t.strictSame(problemOf(perItem, { by: 'mints', amounts: ['1', '2'], max: '2' }, free), {
    path: ['amounts'],
    message: 'price.amounts has 2 prices, and request.properties.mints allows any number of items',
  });
});

t.test('items that are free text are never left out of the count by name', async (t) => {
  const condition = { type: 'string', enum: ['new', 'used'], default: 'new' };
  const request = { required: ['mints'], properties: { mints, condition } };
  t.strictSame(problemOf(perItem, { by: 'mints', amount: '1', unless: { condition: { used: ['one'] } } }, request), {
    path: ['unless', 'condition', 'used'],
    message: 'price.unless.condition.used has one, which request.properties.mints.items does not allow',
  });
});
