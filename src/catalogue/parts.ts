import type { RailDeclaration } from './rails.ts';
import type { JsonSchema, Model, Price } from './types.ts';

/** What the catalogue must know of a pricing rule: PricingRule, whatever its options are. */
export interface RuleShape {
  readonly name: string;
  readonly options: JsonSchema;
  /** Throws PricingProblem. */
  compile(options: never, request: JsonSchema, context: { readonly models: ReadonlyMap<string, Model> }): Price;
}

/** What the catalogue must know of an adapter. */
export interface AdapterShape {
  readonly name: string;
  readonly options: JsonSchema;
  readonly modelOptions?: JsonSchema;
  readonly upstreamOptions?: JsonSchema;
  readonly secrets: readonly string[];
  /** Further secrets that it can use: an upstream's `keys` may name them. */
  readonly optionalSecrets?: readonly string[];
}

/** What the catalogue must know of a recipe. */
export interface RecipeShape {
  readonly name: string;
  readonly options: JsonSchema;
  readonly roles: Readonly<Record<string, readonly string[]>>;
}

/** The code that a catalogue names: every rule, adapter, recipe and rail there is. */
export interface CatalogueParts {
  readonly rules: readonly RuleShape[];
  readonly adapters: readonly AdapterShape[];
  readonly recipes: readonly RecipeShape[];
  readonly rails: readonly RailDeclaration[];
}
