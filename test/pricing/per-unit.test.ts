import * as fc from 'fast-check';
import t from 'tap';
import type { Input } from '../../src/catalogue/types.ts';
import { perUnit } from '../../src/pricing/per-unit.ts';
import { compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';

const prompt = { type: 'string' };
const length = { type: 'integer', minimum: 1000, maximum: 180_000, default: 120_000 };
const music = { required: ['prompt'], properties: { prompt, music_length_ms: length } };
const byLength = { by: 'music_length_ms', amount: '1.00', per: 120_000, max: '1.50' };

const duration = { type: 'number', minimum: 4, maximum: 30, default: 5 };
const resolution = { type: 'string', enum: ['480p', '720p'], default: '720p' };
const video = { required: ['prompt'], properties: { prompt, duration, resolution } };
const each = { by: 'resolution', amounts: { '480p': '0.12', '720p': '0.26' } };
const byDuration = { by: 'duration', each };

const longer = (field: string, most: number) => (input: Input) => {
  const units = Number(input[field]);
  return { ...input, [field]: Math.min(most, units + 1) };
};

t.test('an amount for so many units, with a highest price', async (t) => {
  keepsItsPromises(t, perUnit, {
    options: byLength,
    request: music,
    bare: { prompt: '' },
    more: longer('music_length_ms', 180_000),
  });
});

t.test('an amount that another field chooses, for fractions of units', async (t) => {
  keepsItsPromises(t, perUnit, {
    options: byDuration,
    request: video,
    bare: { prompt: '' },
    more: longer('duration', 30),
  });
});

t.test('a highest price in place of a maximum', async (t) => {
  keepsItsPromises(t, perUnit, {
    options: { by: 'count', amount: '0.000001', per: 1000, max: '0.5' },
    request: { required: ['count'], properties: { count: { type: 'integer', minimum: 0 } } },
    bare: { count: 0 },
    more: longer('count', Number.MAX_SAFE_INTEGER),
  });
});

t.test('units that are free', async (t) => {
  keepsItsPromises(t, perUnit, {
    options: { by: 'count', amount: '0' },
    request: { required: ['count'], properties: { count: { type: 'integer', minimum: 1, maximum: 9 } } },
    bare: { count: 1 },
    free: true,
  });
});

t.test('music costs a dollar for 120 seconds, rounded up, and 1.50 at most', async (t) => {
  const price = compiled(perUnit, byLength, music);
  const costs = (music_length_ms: number) => quoteOf(price, music, { prompt: 'a waltz', music_length_ms });
  t.equal(costs(1000), 8_334n);
  t.equal(costs(1200), 10_000n);
  t.equal(costs(60_000), 500_000n);
  t.equal(costs(100_001), 833_342n);
  t.equal(costs(180_000), 1_500_000n);
  t.equal(quoteOf(price, music, { prompt: 'a waltz' }), 1_000_000n);
  t.strictSame([price.min, price.max, price.listed], [8_334n, 1_500_000n, 1_000_000n]);
});

t.test('music is capped where the length would cost more', async (t) => {
  const price = compiled(perUnit, { ...byLength, max: '1.20' }, music);
  t.equal(quoteOf(price, music, { prompt: 'a waltz', music_length_ms: 144_000 }), 1_200_000n);
  t.equal(quoteOf(price, music, { prompt: 'a waltz', music_length_ms: 180_000 }), 1_200_000n);
  t.equal(price.max, 1_200_000n);
});

t.test('a number that can only be one has one price, and what is free needs no maximum', async (t) => {
  const only = (duration: object) => ({ required: ['duration'], properties: { duration } });
  const price = compiled(perUnit, { by: 'duration', amount: '0.10' }, only({ type: 'number', minimum: 5, maximum: 5 }));
  t.strictSame([price.min, price.max, price.listed], [500_000n, 500_000n, 500_000n]);
  const free = compiled(perUnit, { by: 'duration', amount: '0', max: '1.00' }, only({ type: 'number', minimum: 5 }));
  t.strictSame([free.min, free.max], [0n, 0n]);
});

t.test('video costs 0.26 a second at 720p and 0.12 at 480p', async (t) => {
  const price = compiled(perUnit, byDuration, video);
  const costs = (duration: number, resolution: string) =>
    quoteOf(price, video, { prompt: 'a dog', duration, resolution });
  t.equal(costs(5, '720p'), 1_300_000n);
  t.equal(costs(4, '720p'), 1_040_000n);
  t.equal(costs(30, '720p'), 7_800_000n);
  t.equal(costs(4, '480p'), 480_000n);
  t.equal(costs(30, '480p'), 3_600_000n);
  t.equal(costs(4.5, '480p'), 540_000n);
  t.equal(costs(4.1, '720p'), 1_066_000n);
  t.equal(costs(4.0000001, '720p'), 1_040_001n);
  t.strictSame([price.min, price.max, price.listed, price.fixed], [480_000n, 7_800_000n, 1_300_000n, false]);
});

t.test('the price is bounded by the largest number and by the highest price, whichever comes first', async (t) => {
  const bounds = (count: object, options: object) => {
    const request = {
      required: ['count', 'resolution'],
      properties: { count: { type: 'integer', ...count }, resolution },
    };
    const price = compiled(perUnit, { by: 'count', ...options }, request);
    return [price.min, price.max];
  };
  const upTo9 = { minimum: 1, maximum: 9 };
  const anyCount = { minimum: 1 };
  t.strictSame(bounds(upTo9, { amount: '0.01' }), [10_000n, 90_000n]);
  t.strictSame(bounds(upTo9, { amount: '0.01', max: '0.05' }), [10_000n, 50_000n]);
  t.strictSame(bounds(upTo9, { amount: '0.01', max: '0.1' }), [10_000n, 90_000n]);
  t.strictSame(bounds(anyCount, { amount: '0.01', max: '0.1' }), [10_000n, 100_000n]);
  const half = { by: 'resolution', amounts: { '480p': '0', '720p': '0.01' } };
  t.strictSame(bounds(anyCount, { each: half, max: '0.1' }), [0n, 100_000n]);
  // Only what is marked free costs nothing: none of what costs something is a millionth.
  t.strictSame(bounds({ minimum: 0, maximum: 1 }, { amount: '0.01' }), [1n, 10_000n]);
});

t.test('a highest price that every request would cost is found', async (t) => {
  const count = { type: 'integer', minimum: 2, maximum: 9 };
  const request = { required: ['count'], properties: { count } };
  t.strictSame(problemOf(perUnit, { by: 'count', amount: '0.01', max: '0.02' }, request), {
    path: ['max'],
    message: 'every request costs price.max: count of 2 costs as much',
  });
  t.equal(compiled(perUnit, { by: 'count', amount: '0.01', max: '0.020001' }, request).min, 20_000n);
});

t.test('refuses to price an input that was not validated', async (t) => {
  const price = compiled(perUnit, byLength, music);
  t.throws(() => price.quote({ prompt: '', music_length_ms: -1 }), new RangeError('-1 is not a quantity'));
  t.throws(() => price.quote({ prompt: '' }), new RangeError('NaN is not a quantity'));
});

t.test('is the exact product rounded up once, for any number that JSON writes', async (t) => {
  const request = { required: ['n'], properties: { n: { type: 'number', minimum: 0, maximum: 1e30 } } };
  const price = compiled(perUnit, { by: 'n', amount: '0.07', per: 0.3 }, request);
  const numbers = fc.oneof(
    fc.double({ min: 0, max: 1e30, noNaN: true }),
    fc.double({ min: 0, max: 100, noNaN: true }),
    fc.constantFrom(1e21, 1.5e25, 1e-7, 5e-324, 0.1, 0),
  );
  const roundsUp = (n: number): boolean => {
    const [, mantissa = '', exponent = ''] = /^([\d.]+)e([+-]\d+)$/.exec(n.toExponential()) ?? [];
    const decimals = mantissa.split('.')[1]?.length ?? 0;
    const power = Number(exponent) - decimals;
    // 0.07 dollars for 0.3 units: 700000 / 3 millionths for one.
    const numerator = BigInt(mantissa.replace('.', '')) * 700_000n * 10n ** BigInt(Math.max(0, power));
    const denominator = 3n * 10n ** BigInt(Math.max(0, -power));
    const quote = price.quote({ n });
    return quote * denominator >= numerator && (quote === 1n || (quote - 1n) * denominator < numerator);
  };
  t.doesNotThrow(() => fc.assert(fc.property(numbers, roundsUp), { numRuns: 1000 }));
});

t.test('options that do not fit are found', async (t) => {
  const without = (...keywords: string[]) => {
    const bare = Object.fromEntries(Object.entries(length).filter(([keyword]) => !keywords.includes(keyword)));
    return { properties: { music_length_ms: bare } };
  };
  const { max: _, ...uncapped } = byLength;
  t.strictSame(problemOf(perUnit, { by: 'music_length_ms' }, music), {
    path: [],
    message: 'price needs either amount or each',
  });
  t.strictSame(problemOf(perUnit, { ...byDuration, amount: '1' }, video).path, []);
  t.strictSame(problemOf(perUnit, { ...byLength, by: 'length' }, music).path, ['by']);
  t.strictSame(problemOf(perUnit, { ...byLength, by: 'prompt' }, music), {
    path: ['by'],
    message: 'price.by names prompt, which is not a number',
  });
  t.strictSame(problemOf(perUnit, byLength, without('default')), {
    path: ['by'],
    message: 'price.by names music_length_ms, which is neither required nor has a default',
  });
  t.strictSame(problemOf(perUnit, byLength, without('minimum')), {
    path: ['by'],
    message: 'price.by names music_length_ms, which can be negative',
  });
  const within = (minimum: number, maximum: number) => ({
    properties: { music_length_ms: { type: 'integer', minimum, maximum, default: maximum } },
  });
  t.strictSame(problemOf(perUnit, byLength, within(-1, 5)), {
    path: ['by'],
    message: 'price.by names music_length_ms, which can be negative',
  });
  t.strictSame(problemOf(perUnit, byLength, within(5, 4)), {
    path: ['by'],
    message: 'price.by names music_length_ms, whose maximum is below its minimum',
  });
  t.strictSame(problemOf(perUnit, uncapped, without('maximum')), {
    path: ['by'],
    message: 'price.by names music_length_ms, which has no maximum: the price would have none either',
  });
  t.strictSame(problemOf(perUnit, { ...byLength, max: '0' }, music), {
    path: ['max'],
    message: 'price.max is 0: nothing would be charged',
  });
  t.strictSame(problemOf(perUnit, { by: 'duration', each: { by: 'size', amounts: each.amounts } }, video), {
    path: ['each', 'by'],
    message: 'price.each.by names size, which request.properties does not have',
  });
  t.strictSame(problemOf(perUnit, { by: 'duration', each: { ...each, amounts: { '480p': '0.12' } } }, video), {
    path: ['each', 'amounts', '720p'],
    message: 'price.each.amounts has no price for 720p, which request.properties.resolution allows',
  });
});
