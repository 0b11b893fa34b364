/** What every pricing rule promises, whatever its options. */

import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import type { Test } from 'tap';
import { type PricingContext, PricingProblem, type PricingRule } from '../../src/catalogue/contracts.ts';
import { LARGEST_BODY_BYTES } from '../../src/catalogue/endpoints/body-limit.ts';
import type { Input, JsonSchema, Model, Price } from '../../src/catalogue/types.ts';
import { closed, filledIn, validatorOf, validInputs } from './schema.ts';

interface PricingCase<Options> {
  readonly options: Options;
  readonly request: JsonSchema;
  readonly models?: readonly Model[];
  /** A valid request that leaves out what can be left out; where a choice is required, the cheapest. */
  readonly bare: Input;
  /** The same input with more of what is paid for. */
  readonly more?: (input: Input) => Input;
  /** Where not every valid input can be quoted. */
  readonly sold?: (input: Input) => boolean;
  /** True where nothing is charged. */
  readonly free?: boolean;
}

const contextOf = (models: readonly Model[] = [], bodyLimitBytes = LARGEST_BODY_BYTES): PricingContext => ({
  models: new Map(models.map((model) => [model.name, model])),
  bodyLimitBytes,
  working: undefined,
});

/** The compiled price, once the options are found to fit the rule's own schema. */
export function compiled<Options>(
  rule: PricingRule<Options>,
  options: Options,
  request: JsonSchema,
  models?: readonly Model[],
  bodyLimitBytes?: number,
): Price {
  const validate = validatorOf(rule.options);
  if (!validate(structuredClone(options))) throw new Error(`options refused: ${JSON.stringify(validate.errors)}`);
  return rule.compile(options, closed(request), contextOf(models, bodyLimitBytes));
}

/** The price of a request as it is sent, before defaults are filled in. */
export const quoteOf = (price: Price, request: JsonSchema, input: Input): bigint =>
  price.quote(filledIn(closed(request), input));

/** The problem that options have with a request schema. Throws when they have none. */
export function problemOf<Options>(
  rule: PricingRule<Options>,
  options: Options,
  request: JsonSchema,
  models?: readonly Model[],
): { path: readonly string[]; message: string } {
  const { path, message } = refusalOf(rule, options, request, models);
  return { path, message };
}

/** What would be right in place of such options. */
export const adviceOn = <Options>(
  rule: PricingRule<Options>,
  options: Options,
  request: JsonSchema,
): string | undefined => refusalOf(rule, options, request).expected;

function refusalOf<Options>(
  rule: PricingRule<Options>,
  options: Options,
  request: JsonSchema,
  models?: readonly Model[],
): PricingProblem {
  try {
    compiled(rule, options, request, models);
  } catch (problem) {
    if (problem instanceof PricingProblem) return problem;
    throw problem;
  }
  throw new Error('the options fit the request');
}

export function keepsItsPromises<Options>(t: Test, rule: PricingRule<Options>, the: PricingCase<Options>): void {
  const { options, bare, more, free = false, sold = () => true } = the;
  const request = closed(the.request);
  const price = compiled(rule, options, request, the.models);
  const inputs = validInputs(request).filter(sold);
  const holds = (t: Test, promise: (input: Input) => boolean): void => {
    t.doesNotThrow(() => fc.assert(fc.property(inputs, promise), { numRuns: 300 }));
  };

  t.test('the same input has the same price, also after compiling again, and is left as it was', async (t) => {
    const again = compiled(rule, options, request, the.models);
    holds(t, (input) => {
      const before = structuredClone(input);
      const quote = price.quote(input);
      return quote === price.quote(before) && quote === again.quote(input) && isDeepStrictEqual(input, before);
    });
  });

  t.test(free ? 'costs nothing' : 'costs a millionth of a dollar at least', async (t) => {
    holds(t, (input) => (free ? price.quote(input) === 0n : price.quote(input) >= 1n));
  });

  t.test('no input costs less than min or more than max', async (t) => {
    holds(t, (input) => price.min <= price.quote(input) && price.quote(input) <= price.max);
  });

  t.test('what is listed is what a bare request costs', async (t) => {
    t.equal(price.listed, price.quote(filledIn(request, bare)));
    t.ok(price.min <= price.listed && price.listed <= price.max);
  });

  t.test('says fixed exactly where all requests cost the same', async (t) => {
    const quotes = new Set(fc.sample(inputs, 500).map((input) => price.quote(input)));
    if (price.fixed) t.strictSame([...quotes], [price.listed]);
    else t.ok(quotes.size > 1, 'two requests that cost different amounts');
  });

  if (more) {
    t.test('more never costs less', async (t) => {
      holds(t, (input) => price.quote(more(input)) >= price.quote(input));
    });
  }

  const { actual, terms } = price;
  if (terms) {
    t.test('the output that is sold is a whole number of tokens, one at least', async (t) => {
      holds(t, (input) => {
        const { maxOutputTokens = 0 } = terms(input);
        return Number.isSafeInteger(maxOutputTokens) && maxOutputTokens >= 1;
      });
    });
  }

  if (actual) {
    const counts = fc.oneof(fc.integer({ min: -2, max: 2_000_000 }), fc.constantFrom(undefined, null, '7', 1.5, 1e300));
    const results = fc.oneof(
      fc.record({ usage: fc.record({ prompt_tokens: counts, completion_tokens: counts }) }),
      fc.constantFrom<unknown>(undefined, null, {}, { usage: null }, { usage: 'none' }, 'text'),
    );
    t.test('what is charged in the end is never above the quote, nor nothing', async (t) => {
      const promise = (input: Input, result: unknown): boolean => {
        const charged = actual(input, result);
        return charged <= price.quote(input) && charged >= 1n;
      };
      t.doesNotThrow(() => fc.assert(fc.property(inputs, results, promise)));
    });
  }
}
