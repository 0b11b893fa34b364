/**
 * What tokens of a model cost: the provider's price with a markup. One place for the endpoints that quote an upper
 * bound and for calls with an API key, which are billed exactly.
 */

import { type PricingContext, PricingProblem } from '../catalogue/contracts.ts';
import type { Input, Model } from '../catalogue/types.ts';
import { AmountProblem, divideUp, type Money, type Rate, rate } from '../money.ts';
import { chatTokens, IMAGE_TOKENS } from './estimate.ts';
import { charged, lower } from './price.ts';

const RATE_ONE: Rate = 10n ** 12n;
/** Rate times rate a million tokens, to millionths of a dollar a token: 12 + 12 + 6 - 6 decimals. */
const SCALE = RATE_ONE * RATE_ONE;

/** A model that can be sold by the token. */
export interface PricedModel {
  readonly name: string;
  /** Price of a million tokens, markup included, in dollars / 10^24. */
  readonly input: bigint;
  readonly output: bigint;
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly defaultOutput: number;
}

/** Tokens as a provider counted them. */
export interface TokenUse {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

function costRate(model: Model, direction: 'input' | 'output', path: readonly string[]): Rate {
  try {
    return rate(model.cost?.[direction] ?? '');
  } catch (cause) {
    if (!(cause instanceof AmountProblem)) throw cause;
    const message = `upstreams.yaml: cost.${direction} of the model ${model.name}: ${cause.message}`;
    throw new PricingProblem(path, message, cause.expected);
  }
}

/**
 * The model's price with a markup: `rate("0.10")` adds ten percent. Throws PricingProblem at `path`, the option that
 * names the model, when `upstreams.yaml` lacks the model or does not say what is needed to price it.
 */
export function priceModel(
  models: PricingContext['models'],
  name: string,
  markup: Rate,
  path: readonly string[],
): PricedModel {
  const model = models.get(name);
  if (model === undefined) {
    const expected = `one of: ${[...models.keys()].join(', ')}`;
    throw new PricingProblem(path, `no upstream in upstreams.yaml has the model ${name}`, expected);
  }
  const { cost, maxOutput, defaultOutput } = model;
  if (cost === undefined || maxOutput === undefined || defaultOutput === undefined) {
    const missing = Object.entries({ cost, maxOutput, defaultOutput }).filter(([, value]) => value === undefined);
    throw new PricingProblem(
      path,
      `the model ${name} is priced by the token, and upstreams.yaml does not say its ${missing.map(([key]) => key).join(', ')}`,
      'cost: { input, output } in dollars a million tokens, maxOutput and defaultOutput in tokens',
    );
  }
  return {
    name,
    input: costRate(model, 'input', path) * (RATE_ONE + markup),
    output: costRate(model, 'output', path) * (RATE_ONE + markup),
    contextWindow: model.contextWindow ?? Number.POSITIVE_INFINITY,
    maxOutput,
    defaultOutput,
  };
}

/** The exact price of so many tokens, rounded up; a millionth of a dollar at least, unless the model is free. */
export function tokenCost(model: PricedModel, { promptTokens, completionTokens }: TokenUse): Money {
  const sum = BigInt(promptTokens) * model.input + BigInt(completionTokens) * model.output;
  return charged(divideUp(sum, SCALE), model.input === 0n && model.output === 0n);
}

/** The output tokens that are sold, and that the upstream is asked for: the caller's bound, else the default, within the most. */
export const outputBound = (
  { maxOutput, defaultOutput }: Pick<PricedModel, 'maxOutput' | 'defaultOutput'>,
  maxTokens: number | undefined,
): number => Math.ceil(Math.min(maxTokens ?? defaultOutput, maxOutput));

/** The input tokens that are quoted: the estimate, or the context window where that is smaller. */
export const inputBound = (model: PricedModel, estimate: number): number => Math.min(estimate, model.contextWindow);

/** What a chat request is quoted at before it runs: its estimated input and as much output as it may ask for. */
export function upperBound(
  model: PricedModel,
  input: Input,
  maxTokens: number | undefined,
  imageTokens: number = IMAGE_TOKENS,
): Money {
  const promptTokens = inputBound(model, chatTokens(input, imageTokens));
  return tokenCost(model, { promptTokens, completionTokens: outputBound(model, maxTokens) });
}

/** What a call costs once it ran: its tokens, never above the quote; the quote where the use is unknown. */
export const actualCost = (model: PricedModel, use: TokenUse | undefined, quote: Money): Money =>
  use === undefined ? quote : lower(quote, tokenCost(model, use));

/**
 * The tokens that a result reports in `usage`, in OpenAI's chat completions names (`prompt_tokens`,
 * `completion_tokens`) or those of its responses (`input_tokens`, `output_tokens`). Undefined where they are missing
 * or senseless.
 */
export function reportedUse(result: unknown): TokenUse | undefined {
  const usage = (result as { usage?: Readonly<Record<string, unknown>> | null } | null | undefined)?.usage;
  const promptTokens = usage?.prompt_tokens ?? usage?.input_tokens;
  const completionTokens = usage?.completion_tokens ?? usage?.output_tokens;
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
