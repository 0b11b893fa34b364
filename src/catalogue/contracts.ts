/** What the code that a catalogue names says of itself: price rules, adapters and recipes. Their implementations lie above. */
import type { JsonObject } from '../json.ts';
import type { RailDeclaration } from './rails.ts';
import type { JsonSchema, Model, Price, Upstream } from './types.ts';

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
  /** The model that does the work, of those that stand in for one another the first; undefined where the endpoint names none. */
  readonly working: string | undefined;
}

/** A way to price a request. `compile` takes options that the rule's own schema accepts. */
export interface PricingRule<Options = unknown> {
  readonly name: string;
  /** JSON Schema of the options, `rule` left out. */
  readonly options: JsonSchema;
  /** At load. Throws PricingProblem when the options do not fit the request schema. */
  compile(options: Options, request: JsonSchema, context: PricingContext): Price;
}

/**
 * How a call reads a field of the request: the JSON types that it takes, as `number` or `string[]|string`. With `?` the
 * call can do without the field; without it every request has to have it, or get it by default.
 */
export type Reading = string;

/** What a call reads of the request, besides the fields that options marked `x-request-fields` name. */
export interface RequestReads {
  readonly fields: Readonly<Record<string, Reading>>;
  /** Of these a call needs one at least. */
  readonly oneOf?: readonly string[];
  /** True where the other fields go to the provider under their own names. */
  readonly passesOthers?: boolean;
}

/** What is wrong with options in a way that their schema cannot see. `path` leads from the options to the place. */
export interface OptionFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly expected?: string;
}

/** Where options are used. */
export interface OptionsUse {
  readonly request: JsonSchema;
  readonly result: JsonSchema;
  /** The shortest time, in milliseconds, that a call may take. */
  readonly deadlineMs: number;
  readonly upstream: Upstream;
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
  /** What calls with these options read of the request. Left out: it is not known, and requests are not held to it. */
  reads?(options: JsonObject): RequestReads;
  /**
   * Provider fields without which every call is refused: `input`, `fixed` or the model's `defaults` have to give them.
   * `result` is the option of that name, `model` the model's entry in `upstreams.yaml`.
   */
  sends?(result: unknown, model: JsonObject): readonly string[];
  /** `result` -> the `kind` of model that makes it, as the model's entry in `upstreams.yaml` may say. */
  readonly kinds?: Readonly<Record<string, string>>;
  /** True where calls go to the upstream's address itself, its query included, and not to paths below it. */
  readonly asksAtBaseUrl?: boolean;
  /** Faults of options that fit their schema. */
  check?(options: JsonObject, use: OptionsUse): readonly OptionFault[];
  /**
   * What a call answers where the provider answers as the options' example says: it is held against the result schema.
   * `path` leads from the options to the example. Undefined where there is none, or where `check` finds fault with it.
   */
  exampleResult?(options: JsonObject): { readonly result: unknown; readonly path: readonly string[] } | undefined;
  /** True where calls with these options pass their answer on while it comes, as `text/event-stream`. */
  streams?(options: JsonObject): boolean;
  /** What every result has at its top, by the options. Left out: it is not known, and results are not held to it. */
  answers?(options: JsonObject): readonly string[] | undefined;
  /** What recipes hand it in place of a request: the fields that `input` of a role may name. */
  readonly handed?: readonly string[];
  /** The secrets it needs, as `keys` of the upstream: `['key']`. */
  readonly secrets: readonly string[];
  /** Those that the upstream's `settings` speak of. */
  secretsIn?(settings: JsonObject): readonly string[];
  /** Faults of the upstream's `settings` that fit their schema. */
  checkSettings?(settings: JsonObject): readonly OptionFault[];
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
  /** What it reads of the request. Left out: it is not known, and requests are not held to it. */
  readonly reads?: RequestReads['fields'];
  /** True where its results hold a secret: the endpoint then says `secret: true`. */
  readonly secret?: boolean;
  /**
   * Items of a list that it leaves out while another field has a value, list -> field -> value -> items: a price by the
   * item does not count them.
   */
  readonly leavesOut?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>>;
  /** The field that says in dollars what a call gives: its price depends on that. */
  readonly worth?: string;
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
