/** Holds a request to what the calls of its upstreams read of it. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Reading, RequestReads } from '../contracts.ts';
import type { JsonSchema } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';

/** The request that an `upstream:` block works on. */
export interface RequestUse {
  readonly schema: JsonSchema;
  /** How people find it: `mirrors[0].request`. */
  readonly name: string;
  /** Where its fields stand; undefined where the block is not to blame them for what does not fit. */
  readonly fields: SourceLocation | undefined;
  /** Where to say that the two do not fit, when the block itself is inherited from an endpoint that it fits. */
  readonly blame: SourceLocation | undefined;
}

/** Where to say that a field does not fit what is read at `at`. */
const placeOf = (field: string, at: SourceLocation, { fields, blame }: RequestUse): SourceLocation =>
  blame ?? (fields ? below(fields, field) : keyOf(at));

export const fieldsOf = ({ schema }: Pick<RequestUse, 'schema'>): JsonObject =>
  isJsonObject(schema.properties) ? schema.properties : {};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** True where a valid request, defaults filled in, always has the field. */
export const isAlwaysThere = (request: Pick<RequestUse, 'schema'>, field: string): boolean => {
  const property = fieldsOf(request)[field];
  return listOf(request.schema.required).includes(field) || (isJsonObject(property) && property.default !== undefined);
};

/** True where a valid request has one of the fields at least. */
function hasOneOf(request: RequestUse, fields: readonly string[]): boolean {
  if (fields.some((field) => isAlwaysThere(request, field))) return true;
  return [request.schema.oneOf, request.schema.anyOf].some((branches) => {
    const demands = listOf(branches).map((branch) => (isJsonObject(branch) ? listOf(branch.required) : []));
    return demands.length > 0 && demands.every((demand) => fields.some((field) => demand.includes(field)));
  });
}

export const jsonTypeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Whether a value is of one of the types that a schema names; any number passes for an integer. */
export const isOfType = (value: unknown, types: readonly unknown[]): boolean =>
  types.some((type) => jsonTypeOf(value) === (type === 'integer' ? 'number' : type));

function readingOf(type: string, { items }: JsonObject): string {
  if (type === 'integer') return 'number';
  const isOfTexts = type === 'array' && typesOf(items)?.every((item) => item === 'string');
  return isOfTexts ? 'string[]' : type;
}

const isRead = (type: string, types: readonly string[]): boolean =>
  types.includes(type) || (type === 'string[]' && types.includes('array'));

/** The JSON types that a schema takes, integers being numbers and lists of texts `string[]`; undefined where it does not say. */
export function typesOf(schema: unknown): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema.type !== undefined) return [schema.type].flat().map((type) => readingOf(String(type), schema));
  if (Array.isArray(schema.enum)) return schema.enum.map(jsonTypeOf);
  if ('const' in schema) return [jsonTypeOf(schema.const)];
  const branches = [...listOf(schema.anyOf), ...listOf(schema.oneOf)].map(typesOf);
  return branches.length === 0 || branches.includes(undefined) ? undefined : (branches.flat() as string[]);
}

/** Whether a type, as `typesOf` names it, has items. */
export const isList = (type: string): boolean => ['array', 'string[]'].includes(type);

/** Whether it has members or items. */
const isNested = (type: string): boolean => type === 'object' || isList(type);

/** What of a field has no place in a line of text, such as a query; undefined where nothing is. */
export function nestedIn(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typesOf(schema)?.includes('object')) return 'be an object';
  const inner = typesOf(schema.items)?.find(isNested);
  if (inner !== undefined) return inner === 'object' ? 'hold an object' : 'hold a list';
  const branches = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  return branches.map(nestedIn).find((nested) => nested !== undefined);
}

/** Reports what `reader` reads and the request does not have, may leave out, or has in another type. */
export function checkReads(
  reader: string,
  { fields, oneOf }: RequestReads,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  const properties = fieldsOf(request);
  const { name } = request;
  for (const [field, reading] of Object.entries(fields)) {
    const types = reading.replace('?', '').split('|');
    if (properties[field] === undefined) {
      if (isOptional(reading)) continue;
      const missing = `${reader} reads the field ${field}, which ${name} does not have`;
      diagnostics.add(keyOf(placeOf(field, at, request)), missing, choices(field, Object.keys(properties)));
      continue;
    }
    const here = placeOf(field, at, request);
    if (!isOptional(reading)) demandAlways(reader, field, here, request, diagnostics);
    // What takes anything is reported with the request itself.
    const other = typesOf(properties[field])?.find((type) => !isRead(type, types));
    if (other === undefined) continue;
    const wrong = `${reader} reads ${field} as ${types.join(' or ')}, and ${name} takes ${other}`;
    diagnostics.add(here, wrong, types[0] === 'string[]' ? 'write items: { type: string }' : `write type: ${types[0]}`);
  }
  if (oneOf === undefined || hasOneOf(request, oneOf)) return;
  const named = oneOf.join(' or ');
  diagnostics.add(
    keyOf(placeOf(oneOf[0] ?? '', at, request)),
    `${reader} needs ${named}, and ${name} may have neither`,
    `one of them in required, or oneOf: [${oneOf.map((field) => `{ required: [${field}] }`).join(', ')}]`,
  );
}

const isOptional = (reading: Reading): boolean => reading.endsWith('?');

/** Reports a field that a request may leave out although every call needs it. */
export function demandAlways(
  reader: string,
  field: string,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  if (isAlwaysThere(request, field)) return;
  diagnostics.add(
    at,
    `${reader} needs ${field} in every call, and ${request.name} may leave it out`,
    `${field} in required, or a default`,
  );
}

/** Reports fields that no upstream reads: a caller would fill them in for nothing. */
export function checkUnread(
  read: ReadonlySet<string>,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  for (const field of Object.keys(fieldsOf(request))) {
    if (read.has(field)) continue;
    diagnostics.add(
      keyOf(placeOf(field, at, request)),
      `nothing reads the field ${field} of ${request.name}`,
      read.size === 0 ? 'leave it out' : `name it in input, or leave it out; what is read: ${[...read].join(', ')}`,
    );
  }
}
