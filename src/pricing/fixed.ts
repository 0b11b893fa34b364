import type { PricingRule } from '../catalogue/contracts.ts';
import { usd } from '../money.ts';
import { type OutputOptions, outputSchemas, outputTerms } from './output.ts';
import { priceWith } from './price.ts';
import { amountSchema, optionsSchema } from './schemas.ts';

interface FixedOptions extends OutputOptions {
  readonly amount: string;
}

/** Every request costs the same. `amount: "0"` is free. */
export const fixed: PricingRule<FixedOptions> = {
  name: 'fixed',
  options: optionsSchema(['amount'], {
    amount: amountSchema('What every request costs, in dollars'),
    ...outputSchemas,
  }),
  compile({ amount, ...output }, request) {
    const price = usd(amount);
    return priceWith({ min: price, max: price, listed: price, quote: () => price, ...outputTerms(output, request) });
  },
};
