import t from 'tap';
import { perModel } from '../../src/pricing/per-model.ts';
import { compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';

const model = { type: 'string', enum: ['vendor9-2.5-7b', 'vendor3-oss-120b', 'vendor8-v4-pro'] };
const request = { required: ['model', 'prompt'], properties: { model, prompt: { type: 'string' } } };
const options = {
  by: 'model',
  tiers: { standard: '0.0014', premium: '0.005', flagship: '0.01' },
  models: { 'vendor9-2.5-7b': 'standard', 'vendor3-oss-120b': 'premium', 'vendor8-v4-pro': 'flagship' },
};

t.test('models in tiers', async (t) => {
  keepsItsPromises(t, perModel, { options, request, bare: { model: 'vendor9-2.5-7b', prompt: '' } });
});

t.test('a verified call costs 0.0014, 0.005 or 0.01 by the tier of its model', async (t) => {
  const price = compiled(perModel, options, request);
  t.equal(quoteOf(price, request, { model: 'vendor9-2.5-7b', prompt: 'hi' }), 1_400n);
  t.equal(quoteOf(price, request, { model: 'vendor3-oss-120b', prompt: 'hi' }), 5_000n);
  t.equal(quoteOf(price, request, { model: 'vendor8-v4-pro', prompt: 'hi' }), 10_000n);
});

t.test('a model without a tier is found', async (t) => {
  const { 'vendor8-v4-pro': _, ...models } = options.models;
  t.strictSame(problemOf(perModel, { ...options, models }, request), {
    path: ['models', 'vendor8-v4-pro'],
    message: 'price.models has no tier for vendor8-v4-pro, which request.properties.model allows',
  });
});

t.test('a model that cannot be asked for is found', async (t) => {
  t.strictSame(problemOf(perModel, { ...options, models: { ...options.models, gone: 'premium' } }, request).path, [
    'models',
    'gone',
  ]);
});

t.test('a tier without a price is found', async (t) => {
  const models = { ...options.models, 'vendor8-v4-pro': 'flagshp' };
  t.strictSame(problemOf(perModel, { ...options, models }, request), {
    path: ['models', 'vendor8-v4-pro'],
    message: 'price.models puts vendor8-v4-pro into the tier flagshp, which price.tiers does not have',
  });
});

t.test('a tier without a model is found', async (t) => {
  t.strictSame(problemOf(perModel, { ...options, tiers: { ...options.tiers, spare: '1' } }, request), {
    path: ['tiers', 'spare'],
    message: 'price.tiers has spare, and no model of price.models is in it',
  });
});

t.test('the output that is sold is the same for every model', async (t) => {
  const bounded = { ...options, maxOutput: 2048, defaultOutput: 1024 };
  const price = compiled(perModel, bounded, request);
  const input = { model: 'vendor9-2.5-7b', prompt: 'hi' };
  t.same(price.terms?.(input), { maxOutputTokens: 1024 });
  t.same(price.terms?.({ ...input, max_tokens: 9000 }), { maxOutputTokens: 2048 });
  t.equal(compiled(perModel, options, request).terms, undefined);
});

t.test('a bound without a default, or below it, is found', async (t) => {
  t.strictSame(problemOf(perModel, { ...options, maxOutput: 2048 }, request), {
    path: ['maxOutput'],
    message: 'price has maxOutput and no defaultOutput',
  });
  t.strictSame(problemOf(perModel, { ...options, maxOutput: 10, defaultOutput: 11 }, request).path, ['defaultOutput']);
});
