import { type PricingContext, PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import { type Money, rate } from '../money.ts';
import { choiceTable, chosen } from './choice.ts';
import { chatTokens, LARGEST_IMAGE_TOKENS, mostChatTokens } from './estimate.ts';
import { defaultsOf, findField } from './field.ts';
import { maxTokensBounds, maxTokensOf } from './output.ts';
import { highest, lowest, priceWith } from './price.ts';
import { fieldSchema, optionsSchema, rateSchema } from './schemas.ts';
import {
  actualCost,
  demandCovered,
  inputBound,
  outputBound,
  type PricedModel,
  priceModel,
  reportedUse,
  tokenCost,
  upperBound,
} from './tokens.ts';

interface UsageTokensOptions {
  readonly model?: string;
  readonly by?: string;
  readonly markup: string;
  readonly imageTokens?: number;
}

/** Every model that a request can use, and which one an input uses. */
interface Models {
  readonly all: readonly PricedModel[];
  readonly listed: readonly PricedModel[];
  of(input: Input): PricedModel;
}

function modelsOf(options: UsageTokensOptions, request: JsonSchema, context: PricingContext): Models {
  const { models } = context;
  const { model, by } = options;
  const markup = rate(options.markup);
  if (model !== undefined && by === undefined) {
    const priced = priceModel(models, model, markup, ['model']);
    demandCovered(context, priced, ['model']);
    return { all: [priced], listed: [priced], of: () => priced };
  }
  if (by === undefined || model !== undefined) {
    throw new PricingProblem([], 'price needs either model or by', 'one of the two');
  }
  const table = choiceTable(request, { by, path: ['by'] }, (name) => priceModel(models, name, markup, ['by']));
  const all = [...table.values.values()];
  return { all, listed: table.byDefault ? [table.byDefault] : all, of: (input) => chosen(table, input) };
}

/** Throws PricingProblem unless the request has text, and all of it in shapes that are counted. */
function demandText(request: JsonSchema): void {
  const shapes = { prompt: 'string', system_prompt: 'string', messages: 'array' };
  for (const [name, type] of Object.entries(shapes)) {
    const field = findField(request, name);
    if (field === undefined || field.schema.type === type) continue;
    const message = `the price depends on request.properties.${name}, whose type is not ${type}`;
    throw new PricingProblem([], message, `type: ${type}`);
  }
  if (findField(request, 'prompt') || findField(request, 'messages')) return;
  const message = 'the price depends on request.properties.prompt or messages, and the request has neither';
  throw new PricingProblem([], message, 'prompt, messages, or both');
}

/**
 * The provider's price of a model's tokens and a markup. Quoted is an upper bound: the input as estimated, the output
 * as bounded by `max_tokens`, else the model's default. `actual` charges the tokens that the result reports.
 */
export const usageTokens: PricingRule<UsageTokensOptions> = {
  name: 'usage-tokens',
  options: optionsSchema(['markup'], {
    model: { type: 'string', minLength: 1, description: 'The model of upstreams.yaml whose tokens are sold' },
    by: fieldSchema('In place of model: the request field that names the model; it has an enum'),
    markup: rateSchema('What is added to the provider\'s price: "0.10" is ten percent'),
    imageTokens: {
      type: 'integer',
      minimum: 1,
      default: LARGEST_IMAGE_TOKENS,
      description: 'Input tokens that an image in messages counts for',
    },
  }),
  compile(options, request, context): Price {
    const models = modelsOf(options, request, context);
    const imageTokens = options.imageTokens ?? LARGEST_IMAGE_TOKENS;
    const bounds = maxTokensBounds(request);
    demandText(request);

    const defaults = defaultsOf(request);
    const emptyInput = chatTokens({ prompt: '' }, imageTokens);
    const fullInput = ({ digitsPerToken }: PricedModel): number =>
      mostChatTokens(imageTokens, context.bodyLimitBytes) + chatTokens(defaults, imageTokens, digitsPerToken);
    const outputs = (model: PricedModel): number[] => {
      const byDefault = outputBound(model, undefined);
      if (bounds === undefined) return [byDefault];
      return [byDefault, outputBound(model, bounds.least), outputBound(model, bounds.most ?? model.maxOutput)];
    };
    const cost = (model: PricedModel, input: number, completionTokens: number): Money =>
      tokenCost(model, { promptTokens: inputBound(model, input), completionTokens });
    const quoteFor = (model: PricedModel, input: Input): Money =>
      upperBound(model, input, maxTokensOf(input), imageTokens);
    const quote = (input: Input): Money => quoteFor(models.of(input), input);

    return priceWith({
      min: lowest(models.all.map((model) => cost(model, emptyInput, Math.min(...outputs(model))))),
      max: highest(models.all.map((model) => cost(model, fullInput(model), Math.max(...outputs(model))))),
      listed: lowest(models.listed.map((model) => quoteFor(model, { prompt: '', ...defaults }))),
      quote,
      terms: (input) => ({ maxOutputTokens: outputBound(models.of(input), maxTokensOf(input)) }),
      actual: (input, result) => actualCost(models.of(input), reportedUse(result), quote(input)),
    });
  },
};
