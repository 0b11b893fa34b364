/** What the code that a catalogue names says of itself: price rules, adapters and recipes. Their implementations lie above. */
import type { RailDeclaration } from './rails.ts';
import type { JsonSchema, Model, Price } from './types.ts';

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
  /** The largest request: bounds what its text can cost. */
  readonly bodyLimitBytes: number;
}

/** A way to price a request. `compile` takes options that the rule's own schema accepts. */
export interface PricingRule<Options = unknown> {
  readonly name: string;
  /** JSON Schema of the options, `rule` left out. */
  readonly options: JsonSchema;
  /** At load. Throws PricingProblem when the options do not fit the request schema. */
  compile(options: Options, request: JsonSchema, context: PricingContext): Price;
}

/** What an adapter needs of the files that name it. */
export interface AdapterDeclaration {
  readonly name: string;
  /** JSON Schema of the endpoint's `upstream:` keys besides `via` and `model`. */
  readonly options: JsonSchema;
  /** JSON Schema of what a model's entry may hold besides the common keys. */
  readonly modelOptions?: JsonSchema;
  /** JSON Schema of the upstream's `settings`. */
  readonly upstreamOptions?: JsonSchema;
  /**
   * Where the model of a call is named: by the endpoint or role alone, or by the request's field `model` before that.
   * Left out: calls need no model.
   */
  readonly model?: 'named' | 'named-or-asked';
  /**
   * True where every call asks for as many output tokens as the price sold. Its endpoints need a price that sells a
   * number of them, and such a price needs an adapter like this.
   */
  readonly boundsOutput?: boolean;
  /** The secrets it needs, as `keys` of the upstream: `['key']`. */
  readonly secrets: readonly string[];
  /** Further secrets that it can use: an upstream's `keys` may name them. */
  readonly optionalSecrets?: readonly string[];
}

/** What a recipe needs of the endpoints that name it. */
export interface RecipeDeclaration {
  readonly name: string;
  /** JSON Schema of the endpoint's `upstream:` keys besides `recipe` and `uses`. */
  readonly options: JsonSchema;
  /** The one of the gateway's own paths that it is sold at. Left out: it is sold at none of them. */
  readonly ownPath?: string;
  /** Role -> the adapters that can play it. */
  readonly roles: Readonly<Record<string, readonly AdapterDeclaration[]>>;
}

/** The code that a catalogue can name. */
export interface CatalogueParts {
  readonly rules: readonly PricingRule[];
  readonly adapters: readonly AdapterDeclaration[];
  readonly recipes: readonly RecipeDeclaration[];
  readonly rails: readonly RailDeclaration[];
}
