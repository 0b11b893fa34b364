/**
 * What tokens of a model cost: the provider's price with a markup. One place for the endpoints that quote an upper
 * bound and for calls with an API key, which bills each call exactly.
 */

import { type PricingContext, PricingProblem } from '../catalogue/contracts.ts';
import type { Input, Model } from '../catalogue/types.ts';
import { AmountProblem, divideUp, type Money, type Rate, rate } from '../money.ts';
import { chatTokens, LARGEST_IMAGE_TOKENS } from './estimate.ts';
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
  /** Of every token of a call whose prompt has more than `above`, where its provider asks more for those. */
  readonly long?: { readonly above: number; readonly input: bigint; readonly output: bigint };
  readonly contextWindow: number;
  /** Of an input, where they are not as many as in most vocabularies. */
  readonly digitsPerToken?: number | undefined;
  readonly maxOutput: number;
  readonly defaultOutput: number;
}

/** Tokens as a provider counted them. */
export interface TokenUse {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

type Costs = Readonly<Record<'input' | 'output', string>>;

/** Both prices with the markup. `where` leads from the model to the costs. */
function pricesOf(costs: Costs, markup: Rate, where: string, { name }: Model, path: readonly string[]) {
  const priceOf = (direction: keyof Costs): bigint => {
    try {
      return rate(costs[direction]) * (RATE_ONE + markup);
    } catch (cause) {
      if (!(cause instanceof AmountProblem)) throw cause;
      const message = `upstreams.yaml: ${where}.${direction} of the model ${name}: ${cause.message}`;
      throw new PricingProblem(path, message, cause.expected);
    }
  };
  return { input: priceOf('input'), output: priceOf('output') };
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
  const prices = pricesOf(cost, markup, 'cost', model, path);
  const long = cost.long && { above: cost.long.above, ...pricesOf(cost.long, markup, 'cost.long', model, path) };
  if (long && (long.input < prices.input || long.output < prices.output)) {
    const message = `upstreams.yaml: cost.long of the model ${name} is less than its cost: a longer prompt would be cheaper`;
    throw new PricingProblem(path, message, 'input and output of at least those of cost');
  }
  return {
    name,
    ...prices,
    ...(long && { long }),
    contextWindow: model.contextWindow ?? Number.POSITIVE_INFINITY,
    digitsPerToken: model.digitsPerToken,
    maxOutput,
    defaultOutput,
  };
}

type Prices = Pick<PricedModel, 'input' | 'output'>;

const covers = (asked: Prices, cost: Prices): boolean => cost.input <= asked.input && cost.output <= asked.output;

/** Throws PricingProblem at `path` where the tokens of the model that does the work cost more than is asked for the priced one's. */
export function demandCovered({ models, working }: PricingContext, priced: PricedModel, path: readonly string[]): void {
  const model = models.get(working ?? priced.name);
  if (!model?.cost || model.name === priced.name) return;
  const { cost } = model;
  const costs = pricesOf(cost, 0n, 'cost', model, path);
  const long = cost.long ? pricesOf(cost.long, 0n, 'cost.long', model, path) : costs;
  const isLongAsSoon = cost.long && priced.long && priced.long.above <= cost.long.above;
  if (covers(priced, costs) && covers(isLongAsSoon ? priced.long : priced, long)) return;
  const message = `${model.name} does the work, and a million of its tokens cost more than is asked for those of ${priced.name}`;
  throw new PricingProblem(path, message, `name ${model.name} here, or raise markup`);
}

/** The exact price of so many tokens, rounded up; a millionth of a dollar at least, unless the model is free. */
export function tokenCost(model: PricedModel, { promptTokens, completionTokens }: TokenUse): Money {
  const { input, output } = model.long && promptTokens > model.long.above ? model.long : model;
  const sum = BigInt(promptTokens) * input + BigInt(completionTokens) * output;
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
  imageTokens: number = LARGEST_IMAGE_TOKENS,
): Money {
  const promptTokens = inputBound(model, chatTokens(input, imageTokens, model.digitsPerToken));
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
