import type { PricingRule } from '../catalogue/contracts.ts';
import { usd } from '../money.ts';
import { entryTable, priceByChoice } from './choice.ts';
import { amountsSchema, fieldSchema, optionsSchema } from './schemas.ts';

interface SelectOptions {
  readonly by: string;
  readonly amounts: { readonly [value: string]: string };
}

/** The value of one field chooses the price. */
export const select: PricingRule<SelectOptions> = {
  name: 'select',
  options: optionsSchema(['by', 'amounts'], {
    by: fieldSchema('The request field whose value chooses the price; it has an enum'),
    amounts: amountsSchema('What each value costs, in dollars'),
  }),
  compile({ by, amounts }, request) {
    const options = { by, path: ['by'], entries: amounts, entriesPath: ['amounts'], noun: 'price' };
    return priceByChoice(entryTable(request, options, usd));
  },
};
