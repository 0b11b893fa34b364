import { PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import { divideUp, type Money, rate, rateToMoney } from '../money.ts';
import { chosen, entryTable } from './choice.ts';
import { textWeight } from './estimate.ts';
import { defaultsOf, findField, namedField } from './field.ts';
import { charged, priceWith } from './price.ts';
import { fieldSchema, optionsSchema, rateSchema } from './schemas.ts';
import { DIGITS_PER_TOKEN, heaviestText, tokensOf } from './token-estimate.ts';

interface TieredTokensOptions {
  readonly input: string;
  readonly output: string;
  readonly imageTokens?: number;
  readonly tiers: { readonly [tier: string]: number };
  readonly tierBy?: string;
  readonly text?: readonly string[];
  readonly image?: string;
  readonly digitsPerToken?: number;
}

const TEXT_FIELDS = ['prompt', 'system_prompt'];
const TOKENS_PER_RATE = 1000n;

/** The text fields that are paid for: those named, else the usual ones that the request has. */
function textFields(text: readonly string[] | undefined, request: JsonSchema): readonly string[] {
  const names = text ?? TEXT_FIELDS.filter((name) => findField(request, name));
  if (names.length === 0) {
    const message = `the request has no text: neither ${TEXT_FIELDS.join(' nor ')} is in request.properties`;
    throw new PricingProblem(['text'], message, 'the names of the text fields');
  }
  names.forEach((name, index) => {
    const path = text ? ['text', String(index)] : ['text'];
    if (namedField(request, name, path).schema.type === 'string') return;
    const message = `price.text names ${name}, which is not a string`;
    throw new PricingProblem(path, message, `request.properties.${name}.type: string`);
  });
  return names;
}

interface Image {
  readonly tokens: number;
  tokensOf(input: Input): number;
  /** True where every input has one. */
  readonly always: boolean;
}

function imageOf(options: TieredTokensOptions, request: JsonSchema): Image {
  const { image = 'image', imageTokens } = options;
  const field = options.image === undefined ? findField(request, image) : namedField(request, image, ['image']);
  if (field === undefined && imageTokens === undefined) return { tokens: 0, tokensOf: () => 0, always: false };
  if (imageTokens === undefined) {
    const message = `request.properties.${image} would be free: price.imageTokens does not say what it counts for`;
    throw new PricingProblem(['imageTokens'], message, 'imageTokens: 1600');
  }
  if (field === undefined) {
    const message = `price.imageTokens counts for ${image}, which request.properties does not have`;
    throw new PricingProblem(['imageTokens'], message, 'no imageTokens, or price.image with the name of the field');
  }
  return {
    tokens: imageTokens,
    tokensOf: (input) => (input[image] === undefined ? 0 : imageTokens),
    always: field.present,
  };
}

/**
 * Estimated input tokens at one rate, and the output ceiling of a tier at another, both for 1,000 tokens. Text
 * counts as estimated, an image by a flat number of tokens.
 */
export const tieredTokens: PricingRule<TieredTokensOptions> = {
  name: 'tiered-tokens',
  options: optionsSchema(['input', 'output', 'tiers'], {
    input: rateSchema('What 1,000 input tokens cost, in dollars'),
    output: rateSchema('What 1,000 output tokens cost, in dollars'),
    imageTokens: { type: 'integer', minimum: 1, description: 'Input tokens that an image counts for' },
    tiers: {
      type: 'object',
      minProperties: 1,
      additionalProperties: { type: 'integer', minimum: 1 },
      description: 'Output tokens of each tier',
    },
    tierBy: { ...fieldSchema('The request field that chooses the tier'), default: 'tier' },
    text: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string' },
      default: ['prompt', 'system_prompt'],
      description: 'The request fields whose text is paid for',
    },
    image: { ...fieldSchema('The request field that holds an image'), default: 'image' },
    digitsPerToken: {
      type: 'integer',
      minimum: 1,
      default: DIGITS_PER_TOKEN,
      description: 'How many digits the vocabulary of the model joins',
    },
  }),
  compile(options, request, { bodyLimitBytes }): Price {
    const { tiers, tierBy = 'tier', digitsPerToken } = options;
    const table = entryTable(
      request,
      { by: tierBy, path: ['tierBy'], entries: tiers, entriesPath: ['tiers'], noun: 'number of tokens' },
      (tokens) => tokens,
    );
    const text = textFields(options.text, request);
    const image = imageOf(options, request);
    const inputRate = rate(options.input);
    const outputRate = rate(options.output);
    const free = inputRate === 0n && outputRate === 0n;

    const cost = (inputTokens: number, outputTokens: number): Money => {
      const sum = BigInt(inputTokens) * inputRate + BigInt(outputTokens) * outputRate;
      return charged(rateToMoney(divideUp(sum, TOKENS_PER_RATE)), free);
    };
    const weightOf = (input: Input): number =>
      text.reduce((sum, name) => sum + textWeight(input[name], digitsPerToken), 0);
    const inputTokens = (input: Input): number => tokensOf(weightOf(input)) + image.tokensOf(input);

    const defaults = defaultsOf(request);
    const outputs = [...table.values.values()];
    const fewest = Math.min(...outputs);
    const always = image.always ? image.tokens : 0;
    const weightAtMost = heaviestText(bodyLimitBytes) + weightOf(defaults);
    return priceWith({
      min: cost(always, fewest),
      max: cost(tokensOf(weightAtMost) + image.tokens, Math.max(...outputs)),
      listed: cost(tokensOf(weightOf(defaults)) + always, table.byDefault ?? fewest),
      quote: (input) => cost(inputTokens(input), chosen(table, input)),
      terms: (input) => ({ tier: String(input[tierBy]), maxOutputTokens: chosen(table, input) }),
    });
  },
};
