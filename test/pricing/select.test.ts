import t from 'tap';
import { select } from '../../src/pricing/select.ts';
import { compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';

const resolution = { type: 'string', enum: ['1k', '2k', '4k'], default: '1k' };
const prompt = { type: 'string' };
const request = { required: ['prompt'], properties: { prompt, resolution } };
const options = { by: 'resolution', amounts: { '1k': '0.06', '2k': '0.10', '4k': '0.15' } };

t.test('a choice with a default', async (t) => {
  keepsItsPromises(t, select, { options, request, bare: { prompt: '' } });
});

t.test('a choice that is required is listed at its cheapest', async (t) => {
  keepsItsPromises(t, select, {
    options: { by: 'mode', amounts: { shop: '0.04', identify: '0.02' } },
    request: { required: ['mode'], properties: { mode: { type: 'string', enum: ['shop', 'identify'] } } },
    bare: { mode: 'identify' },
  });
});

t.test('a single value may be a const', async (t) => {
  keepsItsPromises(t, select, {
    options: { by: 'region', amounts: { US: '0.015' } },
    request: { required: ['region'], properties: { region: { const: 'US' } } },
    bare: { region: 'US' },
  });
});

t.test('an image costs 0.06, 0.10 or 0.15 by resolution', async (t) => {
  const price = compiled(select, options, request);
  t.equal(quoteOf(price, request, { prompt: 'a boat' }), 60_000n);
  t.equal(quoteOf(price, request, { prompt: 'a boat', resolution: '2k' }), 100_000n);
  t.equal(quoteOf(price, request, { prompt: 'a boat', resolution: '4k' }), 150_000n);
  t.strictSame([price.min, price.max, price.listed, price.fixed], [60_000n, 150_000n, 60_000n, false]);
});

t.test('a choice is listed at its default, be it not the cheapest', async (t) => {
  const properties = { prompt, resolution: { ...resolution, default: '2k' } };
  const price = compiled(select, options, { properties });
  t.strictSame([price.min, price.max, price.listed], [60_000n, 150_000n, 100_000n]);
  t.equal(quoteOf(price, { properties }, {}), 100_000n);
});

t.test('refuses to price an input that was not validated', async (t) => {
  const price = compiled(select, options, request);
  t.throws(() => price.quote({ prompt: 'a boat', resolution: '8k' }), TypeError);
  t.throws(() => price.quote({ prompt: 'a boat' }), TypeError);
  t.throws(() => price.quote({ prompt: 'a boat', resolution: 'constructor' }), TypeError);
});

t.test('a value without a price is found', async (t) => {
  const amounts = { '1k': '0.06', '2k': '0.10' };
  t.strictSame(problemOf(select, { by: 'resolution', amounts }, request), {
    path: ['amounts', '4k'],
    message: 'price.amounts has no price for 4k, which request.properties.resolution allows',
  });
});

t.test('a price without a value is found', async (t) => {
  t.strictSame(problemOf(select, { ...options, amounts: { ...options.amounts, '8k': '0.3' } }, request), {
    path: ['amounts', '8k'],
    message: 'price.amounts has a price for 8k, which request.properties.resolution does not allow',
  });
});

t.test('a name that every object inherits is no price', async (t) => {
  const properties = { by: { type: 'string', enum: ['toString'], default: 'toString' } };
  t.strictSame(problemOf(select, { by: 'by', amounts: { a: '1' } }, { properties }).path, ['amounts', 'toString']);
  t.strictSame(problemOf(select, { by: 'constructor', amounts: { a: '1' } }, { properties }), {
    path: ['by'],
    message: 'price.by names constructor, which request.properties does not have',
  });
});

t.test('a field that cannot choose is found', async (t) => {
  t.strictSame(problemOf(select, { ...options, by: 'size' }, request), {
    path: ['by'],
    message: 'price.by names size, which request.properties does not have',
  });
  t.strictSame(problemOf(select, { ...options, by: 'prompt' }, request), {
    path: ['by'],
    message: 'price.by names prompt, which has no enum of strings',
  });
  const mixed = { required: ['resolution'], properties: { resolution: { enum: ['1k', 2] } } };
  t.strictSame(problemOf(select, options, mixed), {
    path: ['by'],
    message: 'price.by names resolution, which has no enum of strings',
  });
  const optional = { properties: { resolution: { type: 'string', enum: ['1k', '2k', '4k'] } } };
  t.strictSame(problemOf(select, options, optional), {
    path: ['by'],
    message: 'price.by names resolution, which is neither required nor has a default',
  });
});
