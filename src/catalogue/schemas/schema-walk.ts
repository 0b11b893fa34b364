import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Step } from '../yaml/yaml-document.ts';

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const SINGLE = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['oneOf', 'anyOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

/**
 * Every keyword that a schema in the catalogue may use: JSON Schema 2020-12 without identifiers and
 * anchors, and our own for requests (request-keywords.ts).
 */
export const KEYWORDS: readonly string[] = [
  ...['$ref', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'type', 'enum', 'const'],
  ...['required', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...['exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['minProperties', 'maxProperties', 'dependentRequired'],
  ...['x-not-above', 'x-country', 'x-whole', 'x-read-from'],
  ...SINGLE,
  ...LISTS,
  ...MAPS,
];

/** The schemas directly inside a schema. Values (`enum`, `default`, `examples`) are no schemas. */
export function subschemas(schema: JsonObject): { steps: readonly Step[]; schema: unknown }[] {
  const found: { steps: readonly Step[]; schema: unknown }[] = [];
  for (const keyword of SINGLE) {
    if (isJsonObject(schema[keyword])) found.push({ steps: [keyword], schema: schema[keyword] });
  }
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    for (const [index, item] of list.entries()) found.push({ steps: [keyword, index], schema: item });
  }
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (isJsonObject(map)) {
      for (const [name, item] of Object.entries(map)) found.push({ steps: [keyword, name], schema: item });
    }
  }
  return found;
}

/** The schema with every schema directly inside it replaced by what `change` makes of it; a new object. */
export function mapSubschemas(
  schema: JsonObject,
  change: (inner: unknown, steps: readonly Step[]) => unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (SINGLE.includes(keyword) && isJsonObject(value)) copy[keyword] = change(value, [keyword]);
    else if (LISTS.includes(keyword) && Array.isArray(value)) {
      copy[keyword] = value.map((item, index) => change(item, [keyword, index]));
    } else if (MAPS.includes(keyword) && isJsonObject(value)) {
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, change(item, [keyword, name])]),
      );
    } else copy[keyword] = typeof value === 'object' ? structuredClone(value) : value;
  }
  return copy;
}
