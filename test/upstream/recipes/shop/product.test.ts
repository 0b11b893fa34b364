import t from 'tap';
import {
  conditionOf,
  hasCondition,
  interleave,
  type Product,
  sortBy,
  withinPrices,
  withOtherPlaces,
} from '../../../../src/upstream/recipes/shop/product.ts';

const product = (fields: Partial<Product>): Product => ({
  marketplace: 'ebay',
  title: 'Lantern',
  url: null,
  image: null,
  price: null,
  currency: fields.price === undefined || fields.price === null ? null : 'USD',
  discount: null,
  rating: null,
  reviews_count: null,
  seller: null,
  condition: null,
  shipping: null,
  also_available_at: [],
  ...fields,
});
const titles = (products: readonly Product[]) => products.map(({ title }) => title).join(' ');
const priced = (...prices: (number | null)[]) => prices.map((price) => product({ title: String(price), price }));

t.test('an explicit order is exact, and what is unknown comes last', async (t) => {
  const products = priced(20, null, 5, 30, 5.5);
  t.equal(titles(sortBy(products, 'price_asc')), '5 5.5 20 30 null');
  t.equal(titles(sortBy(products, 'price_desc')), '30 20 5.5 5 null');
  const rated = [3.9, null, 4.8].map((rating) => product({ title: String(rating), rating }));
  t.equal(titles(sortBy(rated, 'rating')), '4.8 3.9 null');
  const reviewed = [12, 4000, null].map((reviews_count) => product({ title: String(reviews_count), reviews_count }));
  t.equal(titles(sortBy(reviewed, 'reviews')), '4000 12 null');
  const reduced = [null, 20, 55].map((discount) => product({ title: String(discount), discount }));
  t.equal(titles(sortBy(reduced, 'discount')), '55 20 null');
});

t.test('equal offers keep the order that they came in', async (t) => {
  const products = ['a', 'b', 'c'].map((title) => product({ title, price: 5 }));
  t.equal(titles(sortBy(products, 'price_desc')), 'a b c');
});

t.test('a price in another currency is not compared as if it were in this one', async (t) => {
  const products = [...priced(20, 30), product({ title: 'yen', price: 3, currency: 'JPY' })];
  t.equal(titles(sortBy(products, 'price_asc')), '20 30 yen');
  t.equal(titles(withinPrices(products, 1, 25)), '20');
});

t.test('price bounds hold both ends and leave out what has no price', async (t) => {
  const products = priced(9.99, 10, null, 20, 20.01);
  t.equal(titles(withinPrices(products, 10, 20)), '10 20');
  t.equal(titles(withinPrices(products, undefined, 10)), '9.99 10');
  t.equal(titles(withinPrices(products, 20, undefined)), '20 20.01');
  t.equal(withinPrices(products, undefined, undefined).length, 5);
});

t.test('relevance shows every marketplace in turn', async (t) => {
  const list = (...names: string[]) => names.map((title) => product({ title }));
  t.equal(titles(interleave([list('a1', 'a2', 'a3'), list('b1'), list('c1', 'c2')])), 'a1 b1 c1 a2 c2 a3');
  t.same(interleave([]), []);
});

t.test('understands what shops call the condition of a thing', async (t) => {
  const words = {
    new: ['Brand New', 'New'],
    open_box: ['Open Box', 'open-box', 'Opened – never used', 'New (Other)'],
    refurbished: ['Certified - Refurbished', 'Renewed'],
    used: ['Pre-Owned', 'used', 'Second hand', 'Like New'],
    for_parts: ['Parts Only', 'For parts or not working'],
  };
  for (const [condition, texts] of Object.entries(words)) {
    for (const text of texts) t.equal(conditionOf(text), condition, text);
  }
  t.equal(conditionOf(undefined), null);
});

t.test('nothing providerMessage means new; any other condition must be said', async (t) => {
  t.ok(hasCondition(product({}), 'new'));
  t.notOk(hasCondition(product({ condition: 'used' }), 'new'));
  t.notOk(hasCondition(product({}), 'used'));
  t.ok(hasCondition(product({ title: 'Lantern, used' }), 'used'));
  t.notOk(hasCondition(product({ title: 'Lantern, refurbished' }), 'new'));
});

t.test('the same thing at another marketplace is told, at its own it is not', async (t) => {
  const [ebay, amazon, other, again] = withOtherPlaces([
    product({ title: 'Brass Ship Lantern 1920', price: 80, url: 'https://e.example' }),
    product({ title: 'Brass ship lantern, 1920', marketplace: 'amazon', price: 95, url: 'https://a.example' }),
    product({ title: 'Plastic torch', marketplace: 'amazon' }),
    product({ title: 'Brass Ship Lantern 1920' }),
  ]);
  const place = { marketplace: 'amazon', url: 'https://a.example', price: 95, currency: 'USD' };
  t.same(ebay?.also_available_at, [place]);
  t.same(again?.also_available_at, [place]);
  t.same(
    amazon?.also_available_at.map(({ marketplace }) => marketplace),
    ['ebay', 'ebay'],
  );
  t.same(other?.also_available_at, []);
});
