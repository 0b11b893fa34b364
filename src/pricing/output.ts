/** How many output tokens are sold with a call, where a price does not charge for each. */
import { PricingProblem } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import { findField } from './field.ts';
import { outputBound } from './tokens.ts';

/** Options of prices that are the same whatever the length of the answer. */
export interface OutputOptions {
  readonly maxOutput?: number;
  readonly defaultOutput?: number;
}

export const outputSchemas = {
  maxOutput: {
    type: 'integer',
    minimum: 1,
    examples: [4096],
    description: 'The most output tokens that are sold with a call',
  },
  defaultOutput: {
    type: 'integer',
    minimum: 1,
    examples: [1024],
    description: 'Output tokens where the request has no max_tokens',
  },
} as const satisfies Record<string, JsonSchema>;

interface OutputBounds {
  readonly least: number;
  /** Undefined where the request sets no bound. */
  readonly most: number | undefined;
}

/** What `max_tokens` may be; undefined where the request has no such field. Throws PricingProblem for no number of tokens. */
export function maxTokensBounds(request: JsonSchema): OutputBounds | undefined {
  const field = findField(request, 'max_tokens');
  if (!field) return undefined;
  const { type, minimum, maximum } = field.schema;
  if ((type === 'integer' || type === 'number') && typeof minimum === 'number' && minimum >= 1) {
    return { least: minimum, most: typeof maximum === 'number' ? maximum : undefined };
  }
  throw new PricingProblem(
    [],
    'the price depends on request.properties.max_tokens, which can be something else than a number of 1 or more',
    'type: integer, minimum: 1',
  );
}

export const maxTokensOf = (input: Input): number | undefined =>
  input.max_tokens === undefined ? undefined : Number(input.max_tokens);

/** The terms of a price with these options; none without them. Throws PricingProblem. */
export function outputTerms({ maxOutput, defaultOutput }: OutputOptions, request: JsonSchema): Pick<Price, 'terms'> {
  if (maxOutput === undefined && defaultOutput === undefined) return {};
  if (maxOutput === undefined || defaultOutput === undefined) {
    const [given, missing] = maxOutput === undefined ? ['defaultOutput', 'maxOutput'] : ['maxOutput', 'defaultOutput'];
    throw new PricingProblem([given], `price has ${given} and no ${missing}`, 'both of them, or neither');
  }
  if (defaultOutput > maxOutput) {
    const message = 'price.defaultOutput is above price.maxOutput';
    throw new PricingProblem(['defaultOutput'], message, `at most ${maxOutput}`);
  }
  maxTokensBounds(request);
  return { terms: (input) => ({ maxOutputTokens: outputBound({ maxOutput, defaultOutput }, maxTokensOf(input)) }) };
}
