import t from 'tap';
import { Problem } from '../../src/errors.ts';
import { usd } from '../../src/money.ts';
import { amount } from '../../src/pricing/amount.ts';
import { compiled, keepsItsPromises, problemOf } from './contract.ts';

const request = { required: ['amount'], properties: { amount: { type: 'string', format: 'amount' } } };
const options = { by: 'amount', min: '0.50', max: '100' };

t.test('an amount that the request names', async (t) => {
  keepsItsPromises(t, amount, {
    options,
    request,
    bare: { amount: '0.5' },
    sold: (input) => usd(String(input.amount)) >= 500_000n && usd(String(input.amount)) <= 100_000_000n,
  });
});

t.test('costs what the request says', async (t) => {
  const price = compiled(amount, options, request);
  t.equal(price.quote({ amount: '12.345678' }), 12_345_678n);
  t.equal(price.quote({ amount: '100' }), 100_000_000n);
  t.strictSame([price.min, price.max, price.listed], [500_000n, 100_000_000n, 500_000n]);
});

t.test('where the least is the most, only that can be paid', async (t) => {
  const price = compiled(amount, { by: 'amount', min: '5', max: '5' }, request);
  t.equal(price.quote({ amount: '5' }), 5_000_000n);
  t.strictSame([price.min, price.max, price.listed, price.fixed], [5_000_000n, 5_000_000n, 5_000_000n, true]);
});

t.test('an amount out of range is an invalid request that names the field', async (t) => {
  const price = compiled(amount, options, request);
  const refusal = (input: { amount: string }): Problem => {
    try {
      price.quote(input);
    } catch (problem) {
      if (problem instanceof Problem) return problem;
    }
    throw new Error('not refused');
  };
  t.match(refusal({ amount: '0.499999' }), {
    code: 'invalid_request',
    status: 400,
    details: [{ path: '/amount', message: 'amount is 0.499999, which is too little', expected: 'from 0.5 to 100' }],
  });
  t.match(refusal({ amount: '100.000001' }).details, [{ message: 'amount is 100.000001, which is too much' }]);
});

t.test('options that do not fit are found', async (t) => {
  const optional = { properties: request.properties };
  t.strictSame(problemOf(amount, options, optional), {
    path: ['by'],
    message: 'price.by names amount, which is not required',
  });
  const numeric = { required: ['amount'], properties: { amount: { type: 'number', format: 'amount' } } };
  t.strictSame(problemOf(amount, options, numeric).message, 'price.by names amount, which is not an amount');
  const plain = { required: ['amount'], properties: { amount: { type: 'string' } } };
  t.strictSame(problemOf(amount, options, plain), {
    path: ['by'],
    message: 'price.by names amount, which is not an amount',
  });
  t.strictSame(problemOf(amount, { ...options, min: '101' }, request).path, ['min']);
  t.strictSame(problemOf(amount, { ...options, min: '0' }, request).path, ['min']);
});
