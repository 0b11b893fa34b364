import { PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import { type Money, usd } from '../money.ts';
import { entryTable, priceByChoice } from './choice.ts';
import { type OutputOptions, outputSchemas, outputTerms } from './output.ts';
import { amountsSchema, fieldSchema, optionsSchema } from './schemas.ts';

interface PerModelOptions extends OutputOptions {
  readonly by: string;
  readonly tiers: { readonly [tier: string]: string };
  readonly models: { readonly [model: string]: string };
}

/** The model that the request names belongs to a tier, and the tier has a price. */
export const perModel: PricingRule<PerModelOptions> = {
  name: 'per-model',
  options: optionsSchema(['by', 'tiers', 'models'], {
    by: fieldSchema('The request field that names the model; it has an enum'),
    tiers: amountsSchema('What a call costs in each tier, in dollars'),
    models: {
      type: 'object',
      minProperties: 1,
      additionalProperties: { type: 'string' },
      description: "Each model's tier",
    },
    ...outputSchemas,
  }),
  compile({ by, tiers, models, ...output }, request) {
    const amounts = new Map<string, Money>(Object.entries(tiers).map(([tier, amount]) => [tier, usd(amount)]));
    const options = { by, path: ['by'], entries: models, entriesPath: ['models'], noun: 'tier' };
    const table = entryTable(request, options, (tier, model) => {
      const amount = amounts.get(tier);
      if (amount !== undefined) return amount;
      throw new PricingProblem(
        ['models', model],
        `price.models puts ${model} into the tier ${tier}, which price.tiers does not have`,
        `one of: ${[...amounts.keys()].join(', ')}`,
      );
    });
    const unused = [...amounts.keys()].find((tier) => !Object.values(models).includes(tier));
    if (unused === undefined) return { ...priceByChoice(table), ...outputTerms(output, request) };
    throw new PricingProblem(
      ['tiers', unused],
      `price.tiers has ${unused}, and no model of price.models is in it`,
      `a model in ${unused}, or no such tier`,
    );
  },
};
