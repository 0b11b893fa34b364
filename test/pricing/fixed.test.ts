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
});

t.test('where the output is bounded, a request asks for it with a number of one or more', async (t) => {
  const bounded = { amount: '0.05', maxOutput: 900, defaultOutput: 300 };
  const asking = (max_tokens: object) => ({ properties: { max_tokens } });
  const senseless = [
    { type: 'string' },
    { type: 'string', minimum: 1 },
    { type: 'integer' },
    { type: 'integer', minimum: 0 },
    { type: 'number', minimum: 0.5 },
  ];
  for (const max_tokens of senseless) {
    t.strictSame(
      problemOf(fixed, bounded, asking(max_tokens)),
      {
        path: [],
        message:
          'the price depends on request.properties.max_tokens, which can be something else than a number of 1 or more',
      },
      JSON.stringify(max_tokens),
    );
  }
  for (const type of ['integer', 'number']) {
    const price = compiled(fixed, bounded, asking({ type, minimum: 1 }));
    t.same(price.terms?.({ max_tokens: 1 }), { maxOutputTokens: 1 });
  }
});

t.test('a default of the output may be the bound itself, and neither stands alone', async (t) => {
  const price = compiled(fixed, { amount: '0.05', maxOutput: 300, defaultOutput: 300 }, request);
  t.same(price.terms?.({ prompt: 'hi' }), { maxOutputTokens: 300 });
  t.strictSame(problemOf(fixed, { amount: '0.05', maxOutput: 300, defaultOutput: 301 }, request), {
    path: ['defaultOutput'],
    message: 'price.defaultOutput is above price.maxOutput',
  });
  t.strictSame(problemOf(fixed, { amount: '0.05', defaultOutput: 300 }, request), {
    path: ['defaultOutput'],
    message: 'price has defaultOutput and no maxOutput',
  });
  t.strictSame(problemOf(fixed, { amount: '0.05', maxOutput: 300 }, request), {
    path: ['maxOutput'],
    message: 'price has maxOutput and no defaultOutput',
  });
});
