import t from 'tap';
import { fixed } from '../../src/pricing/fixed.ts';
import { compiled, keepsItsPromises, problemOf } from './contract.ts';

const request = { required: ['prompt'], properties: { prompt: { type: 'string' } } };

t.test('an amount', async (t) => {
  keepsItsPromises(t, fixed, { options: { amount: '0.05' }, request, bare: { prompt: '' } });
});

t.test('the amount 0 is free', async (t) => {
  keepsItsPromises(t, fixed, { options: { amount: '0' }, request, bare: { prompt: '' }, free: true });
});

t.test('an endpoint without input has a price', async (t) => {
  const price = compiled(fixed, { amount: '0.000001' }, {});
  t.equal(price.quote({}), 1n);
  t.equal(price.fixed, true);
});

t.test('a bound on the output is sold where there is one', async (t) => {
  t.equal(compiled(fixed, { amount: '0.05' }, request).terms, undefined);
  const price = compiled(fixed, { amount: '0.05', maxOutput: 900, defaultOutput: 300 }, request);
  t.same(price.terms?.({ prompt: 'hi' }), { maxOutputTokens: 300 });
  t.same(price.terms?.({ prompt: 'hi', max_tokens: 10 }), { maxOutputTokens: 10 });
  const text = { properties: { max_tokens: { type: 'string' } } };
  t.match(problemOf(fixed, { amount: '0.05', maxOutput: 900, defaultOutput: 300 }, text).message, /max_tokens/);
});
