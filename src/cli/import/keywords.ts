/** Keywords of schemas: what they say something of, and the order in which they are read best. */
import { isOfType, jsonTypeOf } from '../../catalogue/endpoints/request-reads.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';

const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'minLength', 'maxLength', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
};

const ORDER: readonly string[] = [
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength'],
  ...[
    'minimum',
    'exclusiveMinimum',
    'maximum',
    'exclusiveMaximum',
    'multipleOf',
    'minItems',
    'maxItems',
    'uniqueItems',
  ],
  ...['minProperties', 'maxProperties', 'default', 'deprecated', 'description'],
  ...['required', 'properties', 'additionalProperties', 'items', 'anyOf', 'allOf', 'examples'],
];

/** Every type of JSON: of a value that may be anything. */
export const ANY_TYPE: readonly string[] = ['object', 'array', 'string', 'number', 'boolean', 'null'];

const typeNames = (types: readonly unknown[]): string[] =>
  types.map((type) => (type === 'integer' ? 'number' : String(type)));

/** The type that a schema means which names none, by its values or its keywords; of several values, all of theirs. */
export function impliedType(schema: JsonObject): string | readonly string[] | undefined {
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  const [type, ...others] = new Set(values.map(jsonTypeOf));
  if (type !== undefined) return others.length === 0 ? type : [type, ...others];
  const says = (type: string) => BY_TYPE[type]?.some((keyword) => keyword !== 'format' && keyword in schema);
  return ['object', 'array', 'string', 'number'].find(says);
}

/** The schema without keywords that say nothing of its types, the others in order. */
export function tidied(schema: JsonObject): JsonObject {
  const types = schema.type === undefined ? undefined : typeNames([schema.type].flat());
  const applies = (keyword: string): boolean => {
    const of = Object.keys(BY_TYPE).filter((type) => BY_TYPE[type]?.includes(keyword));
    return of.length === 0 || types === undefined || of.some((type) => types.includes(type));
  };
  const options = Array.isArray(schema.enum) && types ? ofTypes(schema.enum, types) : schema.enum;
  const given: JsonObject = { ...schema, enum: Array.isArray(options) && options.length === 0 ? undefined : options };
  const kept = ORDER.filter((keyword) => given[keyword] !== undefined && applies(keyword));
  return Object.fromEntries(kept.map((keyword) => [keyword, given[keyword]]));
}

/** In YAML a list of texts holds numbers where nobody quotes them. A value of any other type than its schema's fits nothing. */
const ofTypes = (values: readonly unknown[], types: readonly string[]): readonly unknown[] =>
  values
    .map((value) =>
      !isOfType(value, types) && types.includes('string') && isNumberOrBoolean(value) ? `${value}` : value,
    )
    .filter((value) => isOfType(value, types));

const isNumberOrBoolean = (value: unknown): boolean => ['number', 'boolean'].includes(typeof value);

/** Bounds of numbers, lengths and counts. */
export const BOUNDS: readonly string[] = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

/** An object of named fields alone. */
export function isFlat({ type, properties, additionalProperties, anyOf, allOf }: JsonObject): boolean {
  const isObject = [type].flat().every((one) => one === 'object' || one === 'null');
  const isOpen = typeof additionalProperties === 'object' || (anyOf ?? allOf) !== undefined;
  return isObject && !isOpen && Object.keys(asJsonObject(properties)).length > 0;
}
