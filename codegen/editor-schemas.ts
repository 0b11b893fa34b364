/** JSON schemas (draft 7, which editors know best) that complete and check the catalogue's YAML while it is written. */

import type { AdapterDeclaration, CatalogueParts } from '../src/catalogue/contracts.ts';
import { endpointFileSchema } from '../src/catalogue/files/endpoint.ts';
import { networksFileSchema } from '../src/catalogue/files/networks.ts';
import { serviceFileSchema } from '../src/catalogue/files/service.ts';
import { modelProperties, upstreamFileSchema } from '../src/catalogue/files/upstreams.ts';
import { KEYWORDS } from '../src/catalogue/schemas/schema-walk.ts';
import type { Catalogue, Upstream } from '../src/catalogue/types.ts';
import { isJsonObject, type JsonObject } from '../src/json.ts';
import { NOTICE } from './names.ts';

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const DECIMALS: Readonly<Record<string, number>> = { amount: 6, rate: 12 };

/** What takes the place of parts of a schema, by the name of the part (`x-part`), and of names by their kind (`x-names`). */
interface Replacements {
  readonly parts?: Readonly<Record<string, JsonObject>>;
  readonly names?: Readonly<Record<string, Iterable<string>>>;
}

/** The schema with some of its parts replaced, and with our own formats and keywords made common ones. */
function forEditors(schema: unknown, replacements: Replacements = {}): unknown {
  if (Array.isArray(schema)) return schema.map((item) => forEditors(item, replacements));
  if (!isJsonObject(schema)) return schema;
  const {
    'x-request-fields': _,
    'x-provider-fields': _provider,
    'x-unique': _unique,
    'x-upstream-setting': _setting,
    'x-names': kind,
    'x-part': name,
    'x-expected': _expected,
    ...rest
  } = schema;
  const part = replacements.parts?.[String(name)];
  const names = replacements.names?.[String(kind)];
  // Editors show what stands beside a reference, though validators pass over it.
  const description = typeof rest.description === 'string' ? { description: rest.description } : {};
  if (part) return { ...part, ...description };
  if (names) return { ...oneOfNames(names), ...description };
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, forEditors(value, replacements)]));
  const decimals = typeof schema.format === 'string' ? DECIMALS[schema.format] : undefined;
  if (decimals === undefined) return copy;
  const { format: _format, ...withoutFormat } = copy;
  return { ...withoutFormat, pattern: `^(0|[1-9][0-9]{0,11})([.][0-9]{1,${decimals}})?$` };
}

const oneOfNames = (names: Iterable<string>): JsonObject => ({ type: 'string', enum: [...names] });

/** A schema of options with a constant that chooses it, and further properties. */
function variant(options: JsonObject, own: JsonObject, required: readonly string[]): JsonObject {
  return {
    ...options,
    type: 'object',
    properties: { ...own, ...(isJsonObject(options.properties) ? options.properties : {}) },
    required: [...required, ...(Array.isArray(options.required) ? options.required : [])],
    additionalProperties: options.additionalProperties ?? false,
  };
}

function priceSchema({ rules }: CatalogueParts): JsonObject {
  return { oneOf: rules.map((rule) => variant(rule.options, { rule: { const: rule.name } }, ['rule'])) };
}

/** Provider fields that `input` or `fixed` has to give, for each `result` of an upstream whose models all need them. */
function sentBy(adapter: AdapterDeclaration | undefined, entry: Upstream): JsonObject {
  const result = isJsonObject(adapter?.options.properties) ? adapter.options.properties.result : undefined;
  const results = isJsonObject(result) && Array.isArray(result.enum) ? result.enum : [];
  const models = Object.values(entry.models ?? {}).map((model): JsonObject => ({ ...model }));
  const demands = results.flatMap((made) => {
    const [first = [], ...others] = models.map((model) => adapter?.sends?.(made, model) ?? []);
    const always = first.filter((field) => others.every((fields) => fields.includes(field)));
    return always.map((field) => ({
      anyOf: [
        { not: { properties: { result: { const: made } } } },
        { properties: { input: { required: [field] } } },
        { required: ['fixed'], properties: { fixed: { required: [field] } } },
      ],
    }));
  });
  return demands.length > 0 ? { allOf: demands } : {};
}

const modelNames = (entry: Upstream): JsonObject => oneOfNames(Object.keys(entry.models ?? {}));

function upstreamSchema(catalogue: Catalogue, parts: CatalogueParts): JsonObject {
  const adapters = new Map(parts.adapters.map((adapter) => [adapter.name, adapter]));
  const uses: JsonObject[] = [];
  for (const entry of catalogue.upstreams.values()) {
    const own = { via: { const: entry.name }, ...(entry.models && { model: modelNames(entry) }) };
    const adapter = adapters.get(entry.adapter);
    const required = adapter?.model === 'named' ? ['via', 'model'] : ['via'];
    uses.push({ ...variant(adapter?.options ?? {}, own, required), ...sentBy(adapter, entry) });
  }
  for (const recipe of parts.recipes) {
    const roles = Object.entries(recipe.roles).map(([role, allowed]) => {
      const able = [...catalogue.upstreams.values()].filter((entry) =>
        allowed.some(({ name }) => name === entry.adapter),
      );
      const via = oneOfNames(able.map((entry) => entry.name));
      const required = allowed.every(({ model }) => model !== undefined) ? ['via', 'model'] : ['via'];
      return [role, { type: 'object', required, properties: { via } }] as const;
    });
    const used = {
      type: 'object',
      required: Object.keys(recipe.roles),
      properties: Object.fromEntries(roles),
      additionalProperties: false,
    };
    const required = roles.length > 0 ? ['recipe', 'uses'] : ['recipe'];
    uses.push(variant(recipe.options, { recipe: { const: recipe.name }, uses: used }, required));
  }
  return { oneOf: [...uses, { type: 'array', minItems: 1, items: { oneOf: uses } }] };
}

/** JSON Schema's own keywords, and `$ref` with the names of fragments. */
function schemaSchema(fragments: readonly string[]): JsonObject {
  const schema = { $ref: '#/definitions/schema' };
  const schemas = { type: 'array', items: schema };
  const named = { type: 'object', additionalProperties: schema };
  const special: JsonObject = {
    $ref: oneOfNames(fragments),
    properties: named,
    patternProperties: named,
    items: schema,
    oneOf: schemas,
    anyOf: schemas,
    allOf: schemas,
    required: { type: 'array', items: { type: 'string' } },
    enum: { type: 'array', minItems: 1 },
    examples: { type: 'array' },
    description: { type: 'string' },
  };
  const keywords = Object.fromEntries(KEYWORDS.map((keyword) => [keyword, special[keyword] ?? {}]));
  return { type: ['object', 'boolean'], additionalProperties: false, properties: keywords };
}

/** One entry of `upstreams.yaml`, with its adapter's models and settings. */
function upstreamEntry(adapter: AdapterDeclaration): JsonObject {
  const { models: _models, settings: _settings, ...common } = upstreamFileSchema.properties;
  const secrets = [...adapter.secrets, ...(adapter.optionalSecrets ?? [])];
  const model = variant(adapter.modelOptions ?? {}, modelProperties, ['id']);
  return {
    ...upstreamFileSchema,
    properties: {
      ...common,
      adapter: { const: adapter.name },
      keys:
        secrets.length > 0
          ? { ...common.keys, propertyNames: { enum: secrets } }
          : { ...common.keys, ...(!adapter.secretsIn && { maxProperties: 0 }) },
      models: { type: 'object', additionalProperties: model },
      settings: variant(adapter.upstreamOptions ?? {}, {}, []),
    },
  };
}

/** What the checker says in words of its own: families have needs of their own. */
const networksSchema: JsonObject = {
  ...networksFileSchema,
  additionalProperties: {
    ...networksFileSchema.additionalProperties,
    anyOf: [{ properties: { family: { const: 'evm' } } }, { required: ['authorizationLasts'] }],
  },
};

/** File name in `generated/` -> JSON. */
export function editorSchemas(
  catalogue: Catalogue,
  fragments: readonly string[],
  parts: CatalogueParts,
): ReadonlyMap<string, string> {
  const networks = [...catalogue.networks.values()];
  const replacements: Replacements = {
    parts: Object.fromEntries(['price', 'upstream', 'schema'].map((part) => [part, { $ref: `#/definitions/${part}` }])),
    names: {
      tag: catalogue.service.tags,
      network: networks.map(({ id }) => id),
      'EVM network': networks.filter(({ family }) => family === 'evm').map(({ id }) => id),
    },
  };
  const definitions = {
    price: forEditors(priceSchema(parts)),
    upstream: forEditors(upstreamSchema(catalogue, parts)),
    schema: schemaSchema(fragments),
  };
  const upstreams = { type: 'object', additionalProperties: { oneOf: parts.adapters.map(upstreamEntry) } };
  const file = (schema: unknown, more: JsonObject = {}): string =>
    `${JSON.stringify({ $comment: NOTICE, $schema: DRAFT, ...(schema as JsonObject), ...more }, null, 2)}\n`;
  return new Map([
    ['endpoint.schema.json', file(forEditors(endpointFileSchema(parts.rails), replacements), { definitions })],
    ['fragment.schema.json', file({ $ref: '#/definitions/schema' }, { definitions: { schema: definitions.schema } })],
    ['networks.schema.json', file(forEditors(networksSchema))],
    ['upstreams.schema.json', file(forEditors(upstreams))],
    ['service.schema.json', file(forEditors(serviceFileSchema(parts.rails), replacements))],
  ]);
}
