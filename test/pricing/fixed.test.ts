import t from 'tap';
import { fixed } from '../../src/pricing/fixed.ts';
import { compiled, keepsItsPromises } from './contract.ts';

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
