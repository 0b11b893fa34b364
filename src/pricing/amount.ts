import { PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import { Problem } from '../errors.ts';
import { toDecimal, usd } from '../money.ts';
import { namedField } from './field.ts';
import { priceWith } from './price.ts';
import { amountSchema, fieldSchema, optionsSchema } from './schemas.ts';

interface AmountOptions {
  readonly by: string;
  readonly min: string;
  readonly max: string;
}

/**
 * The request says what it pays: buying credits. JSON Schema cannot bound a decimal string, so `quote` throws
 * Problem `invalid_request` for an amount below `min` or above `max`, with details as a schema violation has them.
 */
export const amount: PricingRule<AmountOptions> = {
  name: 'amount',
  options: optionsSchema(['by', 'min', 'max'], {
    by: fieldSchema('The required request field that holds the amount; type string, format amount'),
    min: amountSchema('The least that can be paid, in dollars; more than 0'),
    max: amountSchema('The most that can be paid, in dollars'),
  }),
  compile(options, request) {
    const { by } = options;
    const { name, schema } = namedField(request, by, ['by']);
    if (!Array.isArray(request.required) || !request.required.includes(name)) {
      throw new PricingProblem(['by'], `price.by names ${by}, which is not required`, `${by} in request.required`);
    }
    if (schema.type !== 'string' || schema.format !== 'amount') {
      throw new PricingProblem(
        ['by'],
        `price.by names ${by}, which is not an amount`,
        `request.properties.${by}: { type: string, format: amount }`,
      );
    }
    const min = usd(options.min);
    const max = usd(options.max);
    if (min === 0n) throw new PricingProblem(['min'], 'price.min is 0: nothing would be paid', 'more than 0');
    if (min > max) throw new PricingProblem(['min'], 'price.min is above price.max', `at most ${options.max}`);
    return priceWith({
      min,
      max,
      listed: min,
      quote(input) {
        const paid = usd(String(input[by]));
        if (paid >= min && paid <= max) return paid;
        const expected = `from ${toDecimal(min)} to ${toDecimal(max)}`;
        const message = `${by} is ${toDecimal(paid)}, which is ${paid < min ? 'too little' : 'too much'}`;
        throw new Problem('invalid_request', undefined, { details: [{ path: `/${by}`, message, expected }] });
      },
    });
  },
};
