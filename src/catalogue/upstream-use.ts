import { type Checker, closedOptions } from './checker.ts';
import type { AdapterDeclaration, CatalogueParts, RecipeDeclaration } from './contracts.ts';
import { isObject, type PlainObject } from './schema-walk.ts';
import { choices } from './suggest.ts';
import type { JsonSchema, Price, Upstream } from './types.ts';
import { below, keyOf, type SourceLocation } from './yaml-document.ts';

/** The request that an `upstream:` block works on. */
interface RequestUse {
  readonly schema: JsonSchema;
  /** How people find it: `mirrors[0].request`. */
  readonly name: string;
  /** Where to say that the two do not fit, when the block itself is inherited from an endpoint that it fits. */
  readonly blame: SourceLocation | undefined;
}

const NAME = { type: 'string' } as const;
const bound = { via: NAME, model: NAME } as const;
const ANY = { type: 'object', properties: {}, additionalProperties: true } as const;

/** Checks how endpoints use upstreams and recipes. */
export class UpstreamUse {
  readonly #checker: Checker;
  /** Undefined when `upstreams.yaml` cannot be read: then names in it are not checked. */
  readonly #upstreams: ReadonlyMap<string, Upstream> | undefined;
  readonly #adapters: ReadonlyMap<string, AdapterDeclaration>;
  readonly #recipes: ReadonlyMap<string, RecipeDeclaration>;

  constructor(checker: Checker, upstreams: ReadonlyMap<string, Upstream> | undefined, parts: CatalogueParts) {
    this.#checker = checker;
    this.#upstreams = upstreams;
    this.#adapters = new Map(parts.adapters.map((adapter) => [adapter.name, adapter]));
    this.#recipes = new Map(parts.recipes.map((recipe) => [recipe.name, recipe]));
  }

  /** Checks one `upstream:` block against the request whose fields it names. */
  check(location: SourceLocation, options: unknown, request: RequestUse): void {
    if (!isObject(options)) return;
    const { via, recipe } = options;
    if ((via === undefined) === (recipe === undefined)) {
      const wrong = via === undefined ? 'upstream names neither via nor recipe' : 'upstream names both via and recipe';
      this.#checker.diagnostics.add(keyOf(location), wrong, 'name the upstream with via, or a recipe');
    } else if (via !== undefined) {
      const adapter = this.#adapterOf(location, via, options);
      if (!adapter) return;
      this.#checker.fits(location, options, closedOptions(adapter.options, bound));
      this.#checkModels(location, options, adapter, request);
      this.#checkFields(location, options, adapter.options, request);
      this.#checkSettings(location, options, adapter.options);
    } else this.#checkRecipe(location, options, request);
  }

  /** Checks that a price sells a number of output tokens exactly where an `upstream:` block asks for one. */
  checkTerms(location: SourceLocation, options: unknown, price: Price, priceAt: SourceLocation): void {
    if (!isObject(options)) return;
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

  #adapterOf(location: SourceLocation, via: unknown, options: PlainObject): AdapterDeclaration | undefined {
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

  /** Where the caller names the model, the upstream must have every model that the request allows. */
  #checkModels(location: SourceLocation, options: PlainObject, adapter: AdapterDeclaration, request: RequestUse): void {
    const { schema } = request;
    const models = this.#upstreams?.get(String(options.via))?.models;
    const mayAsk = adapter.model === 'named-or-asked';
    if (options.model !== undefined && !mayAsk) return;
    const field = isObject(schema.properties) ? schema.properties.model : undefined;
    const isListed = isObject(field) && Array.isArray(field.enum);
    const isAlwaysThere = isListed && (field.default !== undefined || listOf(schema.required).includes('model'));
    const isNamed = options.model !== undefined || (mayAsk && isAlwaysThere);
    if (adapter.model !== undefined && !isNamed) this.#demandModel(location, options, adapter);
    if (!models || !isListed) return;
    for (const model of listOf(field.enum)) {
      if (models[String(model)] !== undefined) continue;
      this.#checker.diagnostics.add(
        below(location, 'via'),
        `the upstream ${String(options.via)} has no model ${String(model)}, which request.properties.model allows`,
        choices(String(model), Object.keys(models)),
      );
    }
  }

  #demandModel(location: SourceLocation, options: PlainObject, adapter: AdapterDeclaration): void {
    const models = Object.keys(this.#upstreams?.get(String(options.via))?.models ?? {});
    const wrong = `${String(options.via)} speaks ${adapter.name}, which needs a model`;
    this.#checker.diagnostics.add(keyOf(location), wrong, `add model; ${choices('', models)}`);
  }

  #checkRecipe(location: SourceLocation, options: PlainObject, request: RequestUse): void {
    const { diagnostics } = this.#checker;
    const recipe = this.#recipes.get(String(options.recipe));
    if (!recipe) {
      diagnostics.add(
        below(location, 'recipe'),
        `no recipe ${String(options.recipe)}`,
        choices(String(options.recipe), this.#recipes.keys()),
      );
      return;
    }
    this.#checker.fits(location, options, closedOptions(recipe.options, { recipe: NAME, uses: ANY }));
    this.#checkFields(location, options, recipe.options, request);
    this.#checkSettings(location, options, recipe.options);
    const uses = isObject(options.uses) ? options.uses : {};
    for (const role of Object.keys(recipe.roles)) {
      if (uses[role] !== undefined) continue;
      const wanted = `name an upstream with the adapter ${namesOf(recipe, role).join(' or ')}`;
      diagnostics.add(keyOf(below(location, 'uses')), `the recipe ${recipe.name} needs the role ${role}`, wanted);
    }
    for (const [role, use] of Object.entries(uses)) this.#checkRole(below(location, 'uses', role), role, use, recipe);
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
    } else if (!isObject(use) || typeof use.via !== 'string') {
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
      if (adapter.model !== undefined && use.model === undefined) this.#demandModel(location, use, adapter);
    }
  }

  /** Properties marked `x-request-fields` map something to request fields: these must exist. */
  #checkFields(location: SourceLocation, options: PlainObject, schema: JsonSchema, request: RequestUse): void {
    const fields = isObject(request.schema.properties) ? Object.keys(request.schema.properties) : [];
    const marked = Object.entries(isObject(schema.properties) ? schema.properties : {});
    for (const [option, optionSchema] of marked) {
      const mapping = options[option];
      if (!isObject(optionSchema) || optionSchema['x-request-fields'] !== true || !isObject(mapping)) continue;
      for (const [target, source] of Object.entries(mapping)) {
        const nested = isObject(source);
        const field = nested ? source.from : source;
        if (typeof field !== 'string' || fields.includes(field)) continue;
        this.#checker.diagnostics.add(
          request.blame ?? below(location, option, target, ...(nested ? ['from'] : [])),
          `${option}.${target} takes the field ${field}, which ${request.name} does not have`,
          choices(field, fields),
        );
      }
    }
  }

  /**
   * Properties marked `x-upstream-setting` name an entry of a setting of the upstream: the entry must exist. `chains` is a
   * setting of the endpoint's upstream, `market.chains` one of the upstream that plays a recipe's role `market`.
   */
  #checkSettings(location: SourceLocation, options: PlainObject, schema: JsonSchema): void {
    for (const [option, optionSchema] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
      const marked = isObject(optionSchema) ? optionSchema['x-upstream-setting'] : undefined;
      const entry = options[option];
      if (typeof marked !== 'string' || typeof entry !== 'string') continue;
      const [setting = '', role] = marked.split('.').reverse();
      const user = role === undefined ? options : isObject(options.uses) ? options.uses[role] : undefined;
      const upstream = isObject(user) ? this.#upstreams?.get(String(user.via)) : undefined;
      const known = upstream?.settings?.[setting];
      if (!upstream || !isObject(known) || Object.hasOwn(known, entry)) continue;
      this.#checker.diagnostics.add(
        below(location, option),
        `${upstream.name} has no ${entry} in settings.${setting} of upstreams.yaml`,
        choices(entry, Object.keys(known)),
      );
    }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The adapters that can play a role; none where the recipe has no such role. */
const namesOf = ({ roles }: RecipeDeclaration, role: string): string[] => (roles[role] ?? []).map(({ name }) => name);

const optional = new WeakMap<object, PlainObject>();

/** A role uses an adapter through its functions, so the options that a plain endpoint needs are not needed. */
function withoutRequired(schema: PlainObject): PlainObject {
  const known = optional.get(schema) ?? closedOptions({ ...schema, required: [] }, bound);
  optional.set(schema, known);
  return known;
}
