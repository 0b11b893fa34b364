import type { JsonSchema, Model, Price } from '../catalogue/types.ts';

/** Why options do not fit the request schema. `path` leads from `price` to the key at fault: `['amounts', '4k']`. */
export class PricingProblem extends Error {
  readonly path: readonly string[];
  /** What would be right. */
  readonly expected: string | undefined;
  constructor(path: readonly string[], message: string, expected?: string) {
    super(message);
    this.name = 'PricingProblem';
    this.path = path;
    this.expected = expected;
  }
}

/** What a rule may look up besides its own options. */
export interface PricingContext {
  /** Every model of `upstreams.yaml` by its neutral name: one place sets a model's price. */
  readonly models: ReadonlyMap<string, Model>;
}

/** A way to price a request. One rule a file; `index.ts` lists them. */
export interface PricingRule<Options> {
  readonly name: string;
  /** JSON Schema of the options, `rule` left out. */
  readonly options: JsonSchema;
  /** At load. Throws PricingProblem when the options do not fit the request schema. */
  compile(options: Options, request: JsonSchema, context: PricingContext): Price;
}
