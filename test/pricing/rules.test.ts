import t from 'tap';
import { pricingRules } from '../../src/pricing/index.ts';
import { validatorOf } from './schema.ts';

t.test('every rule has a name of its own', async (t) => {
  t.equal(new Set(pricingRules.map((rule) => rule.name)).size, pricingRules.length);
});

t.test('every rule refuses an option that it does not know', async (t) => {
  for (const rule of pricingRules) {
    const validate = validatorOf(rule.options);
    t.notOk(validate({ amout: '0.05' }), rule.name);
    t.ok(validate.errors?.some((error) => error.keyword === 'additionalProperties'));
  }
});

t.test('an amount that is not a decimal string, or finer than a millionth, is refused', async (t) => {
  const fixed = pricingRules.find((rule) => rule.name === 'fixed');
  const validate = validatorOf(fixed?.options ?? {});
  t.ok(validate({ amount: '0.000001' }));
  for (const amount of [0.05, '.05', '5e-2', '-1', '0.0000001', '']) t.notOk(validate({ amount }), String(amount));
});
