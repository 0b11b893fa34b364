import { isJsonObject, type JsonObject } from '../../json.ts';
import { type Checker, closedOptions } from '../checker.ts';
import type { AdapterDeclaration, CatalogueParts, OptionsUse, RecipeDeclaration } from '../contracts.ts';
import { checkReads, type RequestUse } from '../endpoints/request-reads.ts';
import { upstreamKeys } from '../files/endpoint.ts';
import type { JsonSchema, Price, Upstream } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';
import { checkMapping } from './field-mapping.ts';
import { ModelUse } from './model-use.ts';

const bound = { via: upstreamKeys.via, model: upstreamKeys.model } as const;
const recipeKeys = { recipe: upstreamKeys.recipe, uses: upstreamKeys.uses } as const;

/** Checks how endpoints use upstreams and recipes. */
export class UpstreamUse {
  readonly models: ModelUse;
  readonly #checker: Checker;
  /** Undefined when `upstreams.yaml` cannot be read: then names in it are not checked. */
  readonly #upstreams: ReadonlyMap<string, Upstream> | undefined;
  readonly #adapters: ReadonlyMap<string, AdapterDeclaration>;
  readonly #recipes: ReadonlyMap<string, RecipeDeclaration>;

  constructor(checker: Checker, upstreams: ReadonlyMap<string, Upstream> | undefined, parts: CatalogueParts) {
    this.#checker = checker;
    this.#upstreams = upstreams;
    this.models = new ModelUse(checker.diagnostics, upstreams);
    this.#adapters = new Map(parts.adapters.map((adapter) => [adapter.name, adapter]));
    this.#recipes = new Map(parts.recipes.map((recipe) => [recipe.name, recipe]));
  }

  /**
   * Checks one `upstream:` block against the request whose fields it names, and what is made of its answers. The fields
   * that it reads; undefined where that is not known.
   */
  check(
    location: SourceLocation,
    options: unknown,
    request: RequestUse,
    answers: Pick<OptionsUse, 'result' | 'deadlineMs'>,
  ): ReadonlySet<string> | undefined {
    if (!isJsonObject(options)) return undefined;
    const { via, recipe } = options;
    if ((via === undefined) === (recipe === undefined)) {
      const wrong = via === undefined ? 'upstream names neither via nor recipe' : 'upstream names both via and recipe';
      this.#checker.diagnostics.add(keyOf(location), wrong, 'name the upstream with via, or a recipe');
      return undefined;
    }
    if (via === undefined) return this.#checkRecipe(location, options, request);
    const adapter = this.#adapterOf(location, via, options);
    if (!adapter || !this.#checker.fits(location, options, closedOptions(adapter.options, bound))) return undefined;
    this.models.check(location, options, adapter, request);
    this.#checkSettings(location, options, adapter.options);
    const upstream = this.#upstreams?.get(String(via));
    const faults = upstream && adapter.check?.(options, { request: request.schema, ...answers, upstream });
    for (const { path, message, expected } of faults ?? []) {
      this.#checker.diagnostics.add(below(location, ...path), message, expected);
    }
    const mapped = this.#checkMapping(location, options, adapter, request);
    const reads = adapter.reads?.(options);
    if (!reads) return undefined;
    checkReads(String(via), reads, location, request, this.#checker.diagnostics);
    return reads.passesOthers ? undefined : new Set([...mapped, ...Object.keys(reads.fields)]);
  }

  /** What every result of an `upstream:` block has; undefined where that is not known. */
  answersOf(options: unknown): readonly string[] | undefined {
    if (!isJsonObject(options)) return undefined;
    const upstream = this.#upstreams?.get(String(options.via));
    return upstream && this.#adapters.get(upstream.adapter)?.answers?.(options);
  }

  /** Whether an `upstream:` block passes its answers on while they come. */
  streams(options: unknown): boolean {
    if (!isJsonObject(options)) return false;
    const upstream = this.#upstreams?.get(String(options.via));
    return (upstream && this.#adapters.get(upstream.adapter)?.streams?.(options)) ?? false;
  }

  /** What a call answers to the example of an `upstream:` block, and where that stands. */
  exampleResult(location: SourceLocation, options: unknown): { result: unknown; at: SourceLocation } | undefined {
    if (!isJsonObject(options)) return undefined;
    const upstream = this.#upstreams?.get(String(options.via));
    const made = upstream && this.#adapters.get(upstream.adapter)?.exampleResult?.(options);
    return made && { result: made.result, at: below(location, ...made.path) };
  }

  #checkMapping(
    location: SourceLocation,
    options: JsonObject,
    adapter: AdapterDeclaration,
    request: RequestUse,
  ): ReadonlySet<string> {
    const use = { location, options, adapter, model: this.models.entryOf(options) };
    const { read, sent } = checkMapping(use, request, this.#checker.diagnostics);
    this.models.addSent(options, adapter, sent);
    return read;
  }

  /** Checks that a price sells a number of output tokens exactly where an `upstream:` block asks for one. */
  checkTerms(location: SourceLocation, options: unknown, price: Price, priceAt: SourceLocation): void {
    if (!isJsonObject(options)) return;
    const { via, recipe } = options;
    const upstream = this.#upstreams?.get(String(via));
    const adapter = upstream && this.#adapters.get(upstream.adapter);
    if (!adapter && !this.#recipes.has(String(recipe))) return;
    const { diagnostics } = this.#checker;
    if (adapter?.boundsOutput && !price.terms) {
      const wrong = `${adapter.name} asks for a number of output tokens, and the price sells none`;
      diagnostics.add(keyOf(priceAt), wrong, 'a price by tokens, or one with maxOutput and defaultOutput');
    } else if (!adapter?.boundsOutput && price.terms) {
      const wrong = `the price sells a number of output tokens, and ${adapter?.name ?? String(recipe)} asks for none`;
      diagnostics.add(keyOf(location), wrong, 'an upstream that is asked for them, or another price');
    }
  }

  /** Checks that a price depends on what a recipe gives, and by the item does not count what it leaves out. */
  checkRecipeTerms(options: unknown, price: JsonObject, at: SourceLocation): void {
    const recipe = isJsonObject(options) ? this.#recipes.get(String(options.recipe)) : undefined;
    if (recipe?.worth !== undefined && price.by !== recipe.worth) {
      this.#checker.diagnostics.add(
        at,
        `${recipe.name} gives what ${recipe.worth} says, and the price does not depend on it`,
        `write price: { rule: amount, by: ${recipe.worth}, min: "1", max: "1000" }`,
      );
    }
    const left = price.rule === 'per-item' ? recipe?.leavesOut?.[String(price.by)] : undefined;
    for (const [field, byValue] of Object.entries(left ?? {})) {
      for (const [value, items] of Object.entries(byValue)) {
        const unless: unknown = isJsonObject(price.unless) ? price.unless[field] : undefined;
        const skipped: unknown = isJsonObject(unless) ? unless[value] : undefined;
        if (items.every((item) => Array.isArray(skipped) && skipped.includes(item))) continue;
        const wrong = `${recipe?.name} leaves out ${items.join(', ')} where ${field} is ${value}, and the price counts them`;
        this.#checker.diagnostics.add(
          below(at, 'unless'),
          wrong,
          `unless: { ${field}: { ${value}: [${items.join(', ')}] } }`,
        );
      }
    }
  }

  /**
   * Checks that a list whose price counts what stands in it twice once is handed on by an `upstream:` block without the
   * second: recipes see to that themselves.
   */
  checkItems(options: unknown, price: JsonObject, { properties }: JsonSchema, at: SourceLocation): void {
    if (price.rule !== 'per-item' || !isJsonObject(options) || options.via === undefined) return;
    const by = String(price.by);
    const list = isJsonObject(properties) ? properties[by] : undefined;
    if (!isJsonObject(list) || list.uniqueItems === true) return;
    const wrong = `the price counts what stands twice in ${by} once, and ${String(options.via)} is asked for it twice`;
    this.#checker.diagnostics.add(at, wrong, `uniqueItems: true for ${by}`);
  }

  #adapterOf(location: SourceLocation, via: unknown, options: JsonObject): AdapterDeclaration | undefined {
    if (!this.#upstreams) return undefined;
    const upstream = this.#upstreams.get(String(via));
    if (!upstream) {
      this.#checker.diagnostics.add(
        below(location, 'via'),
        `no upstream ${String(via)}`,
        choices(String(via), this.#upstreams.keys()),
      );
      return undefined;
    }
    const { model } = options;
    if (model !== undefined && upstream.models?.[String(model)] === undefined) {
      this.#checker.diagnostics.add(
        below(location, 'model'),
        `the upstream ${upstream.name} has no model ${String(model)}`,
        choices(String(model), Object.keys(upstream.models ?? {})),
      );
    }
    return this.#adapters.get(upstream.adapter);
  }

  #checkRecipe(location: SourceLocation, options: JsonObject, request: RequestUse): ReadonlySet<string> | undefined {
    const { diagnostics } = this.#checker;
    const recipe = this.#recipes.get(String(options.recipe));
    if (!recipe) {
      diagnostics.add(
        below(location, 'recipe'),
        `no recipe ${String(options.recipe)}`,
        choices(String(options.recipe), this.#recipes.keys()),
      );
      return undefined;
    }
    this.#checker.fits(location, options, closedOptions(recipe.options, recipeKeys));
    this.#checkSettings(location, options, recipe.options);
    if (recipe.secret && !saysSecret(location)) {
      const wrong = `${recipe.name} answers with a secret: whoever reads the chain could ask for the answer again`;
      diagnostics.add(below(location, 'recipe'), wrong, 'add secret: true to the endpoint');
    }
    const uses = isJsonObject(options.uses) ? options.uses : {};
    for (const role of Object.keys(recipe.roles)) {
      if (uses[role] !== undefined) continue;
      const wanted = `name an upstream with the adapter ${namesOf(recipe, role).join(' or ')}`;
      diagnostics.add(keyOf(below(location, 'uses')), `the recipe ${recipe.name} needs the role ${role}`, wanted);
    }
    for (const [role, use] of Object.entries(uses)) this.#checkRole(below(location, 'uses', role), role, use, recipe);
    if (!recipe.reads) return undefined;
    checkReads(`the recipe ${recipe.name}`, { fields: recipe.reads }, location, request, diagnostics);
    return new Set(Object.keys(recipe.reads));
  }

  #checkRole(location: SourceLocation, role: string, use: unknown, recipe: RecipeDeclaration): void {
    const { diagnostics } = this.#checker;
    const allowed = namesOf(recipe, role);
    if (allowed.length === 0) {
      diagnostics.add(
        keyOf(location),
        `the recipe ${recipe.name} has no role ${role}`,
        choices(role, Object.keys(recipe.roles)),
      );
    } else if (!isJsonObject(use) || typeof use.via !== 'string') {
      diagnostics.add(location, `the role ${role} names no upstream`, 'write { via: <a name in upstreams.yaml> }');
    } else {
      const adapter = this.#adapterOf(location, use.via, use);
      if (!adapter) return;
      if (!allowed.includes(adapter.name)) {
        const wanted = `name an upstream with the adapter ${allowed.join(' or ')}`;
        diagnostics.add(
          below(location, 'via'),
          `${use.via} speaks ${adapter.name}, which cannot play the role ${role}`,
          wanted,
        );
        return;
      }
      this.#checker.fits(location, use, withoutRequired(adapter.options));
      this.#checkSettings(location, use, adapter.options);
      if (use.model === undefined) this.models.demand(location, use, adapter);
      if (adapter.handed === undefined || use.input === undefined) return;
      const handed = handedBy(recipe.name, adapter.handed, location);
      this.#checkMapping(location, use, adapter, handed);
    }
  }

  /**
   * Properties marked `x-upstream-setting` name an entry of a setting of the upstream: the entry must exist. `chains` is a
   * setting of the endpoint's upstream, `market.chains` one of the upstream that plays a recipe's role `market`.
   */
  #checkSettings(location: SourceLocation, options: JsonObject, schema: JsonSchema): void {
    for (const [option, optionSchema] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {})) {
      const marked = isJsonObject(optionSchema) ? optionSchema['x-upstream-setting'] : undefined;
      const entry = options[option];
      if (typeof marked !== 'string' || typeof entry !== 'string') continue;
      const [setting = '', role] = marked.split('.').reverse();
      const user = role === undefined ? options : isJsonObject(options.uses) ? options.uses[role] : undefined;
      const upstream = isJsonObject(user) ? this.#upstreams?.get(String(user.via)) : undefined;
      const known = upstream?.settings?.[setting];
      if (!upstream || !isJsonObject(known) || Object.hasOwn(known, entry)) continue;
      this.#checker.diagnostics.add(
        below(location, option),
        `${upstream.name} has no ${entry} in settings.${setting} of upstreams.yaml`,
        choices(entry, Object.keys(known)),
      );
    }
  }
}

const saysSecret = ({ document }: SourceLocation): boolean =>
  isJsonObject(document.value) && (document.value.secret === true || isJsonObject(document.value.secret));

/** The adapters that can play a role; none where the recipe has no such role. */
const namesOf = ({ roles }: RecipeDeclaration, role: string): string[] => (roles[role] ?? []).map(({ name }) => name);

/** What a recipe hands to the adapter in one of its roles, in the form of a request. */
const handedBy = (recipe: string, fields: readonly string[], location: SourceLocation): RequestUse => ({
  schema: { properties: Object.fromEntries(fields.map((field) => [field, {}])), required: fields },
  name: `what ${recipe} asks for`,
  fields: below(location, 'input'),
  blame: undefined,
});

const optional = new WeakMap<object, JsonObject>();

/** A role uses an adapter through its functions, so the options that a plain endpoint needs are not needed. */
function withoutRequired(schema: JsonObject): JsonObject {
  const known = optional.get(schema) ?? closedOptions({ ...schema, required: [] }, bound);
  optional.set(schema, known);
  return known;
}
