import t from 'tap';
import { discountPercent, type Offer, summarizePrices } from '../../src/upstream/price-summary.ts';

const offers = (...prices: (number | null)[]): Offer[] => prices.map((price) => ({ price, currency: 'USD' }));
const medianOf = (...prices: (number | null)[]) => summarizePrices(offers(...prices)).median;

t.test('the median is the middle price, of an even number the mean of the middle two', async (t) => {
  t.equal(medianOf(30, 10, 20), 20);
  t.equal(medianOf(45, 10, 30, 20), 25);
  t.equal(medianOf(10.01, 10.02), 10.015);
  t.equal(medianOf(0.1, 0.2), 0.15, 'without the noise of binary fractions');
  t.equal(medianOf(7), 7);
});

t.test('offers without a price count for nothing and are told', async (t) => {
  t.same(summarizePrices(offers(20, null, 10, null)), { min: 10, max: 20, median: 15, currency: 'USD', left_out: 2 });
  t.same(summarizePrices(offers(null)), { min: null, max: null, median: null, currency: null, left_out: 1 });
  t.same(summarizePrices([]), { min: null, max: null, median: null, currency: null, left_out: 0 });
});

t.test('of several currencies the one that most offers have is summed up', async (t) => {
  const mixed = [
    { price: 5, currency: 'EUR' },
    { price: 10, currency: 'USD' },
    { price: 30, currency: 'USD' },
    { price: null, currency: 'EUR' },
    { price: null, currency: 'EUR' },
  ];
  t.same(summarizePrices(mixed), { min: 10, max: 30, median: 20, currency: 'USD', left_out: 3 });
  t.equal(summarizePrices(mixed.slice(0, 2)).currency, 'EUR', 'the first where two have as many');
});

t.test('discounts are whole percents of the former price', async (t) => {
  t.equal(discountPercent(39.99, 49.99), 20);
  t.equal(discountPercent(2, 3), 33);
  t.equal(discountPercent(1, 3), 67);
  t.equal(discountPercent(995, 1000), 1, 'half a percent rounds up');
  t.equal(discountPercent(50, 50), null);
  t.equal(discountPercent(60, 50), null, 'dearer than before is no discount');
  t.equal(discountPercent(10, 0), null);
  t.equal(discountPercent(null, 50), null);
  t.equal(discountPercent(50, null), null);
});
