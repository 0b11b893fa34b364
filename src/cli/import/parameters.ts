/** Parameters in path, query and headers as fields of a request. */
import { isList, nestedIn, typesOf } from '../../catalogue/endpoints/request-reads.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';
import { CONNECTION_HEADERS } from '../../upstream/providers/http/settings.ts';
import { tidied } from './keywords.ts';
import type { Operation } from './operations.ts';
import { convertSchema, type SchemaContext } from './schema.ts';
import type { Scheme } from './security.ts';

const PLACES: readonly unknown[] = ['path', 'query', 'header', 'cookie'];

/** Headers that are no parameters: the gateway's own, or said by the rest of the document. */
const OWN_HEADERS: readonly string[] = ['accept', 'content-type', 'authorization', ...CONNECTION_HEADERS];

/** A line of printable characters: what a header can hold. */
const IN_HEADER = '^[ -~]*$';

const SEPARATORS: ReadonlyMap<unknown, string> = new Map([
  ['spaceDelimited', ' '],
  ['pipeDelimited', '|'],
]);

export interface ReadParameter {
  readonly schema: JsonObject;
  /** What stands between the items of a list; undefined: each is a parameter of its own. */
  readonly join?: string | undefined;
  /** What it is called on the wire, where that is not its name. */
  readonly sentAs?: string | undefined;
  /** Why it cannot be carried over. */
  readonly refusal?: string;
  readonly notes: readonly string[];
}

/** Those that callers give, in the order in which they are given names: path, query, headers. */
export function parametersFor({ parameters }: Operation, scheme: Scheme | undefined): JsonObject[] {
  const keys = new Set(scheme?.parameters.map((key) => `${key.in} ${key.name.toLowerCase()}`));
  const isOwn = ({ in: place, name }: JsonObject): boolean => {
    const header = place === 'header' ? String(name).toLowerCase() : undefined;
    const isKey = keys.has(`${place} ${String(name).toLowerCase()}`);
    return isKey || (header !== undefined && OWN_HEADERS.includes(header));
  };
  const asked = parameters.filter((parameter) => PLACES.includes(parameter.in) && !isOwn(parameter));
  return asked.sort((left, right) => PLACES.indexOf(left.in) - PLACES.indexOf(right.in));
}

export function readParameter(parameter: JsonObject, context: SchemaContext): ReadParameter {
  const place = String(parameter.in);
  const name = `${place}.${parameter.name}`;
  const refused = (why: string): ReadParameter => ({ schema: {}, refusal: `${name} ${why}`, notes: [] });
  if (place === 'cookie') return refused('is a cookie');
  if (parameter.schema === undefined) return refused('is a document within a parameter');
  const { schema, notes } = convertSchema(described(parameter), 'request', name, context);
  const known = typesOf(schema);
  const types = known ?? ['string'];
  if (types.includes('object')) return refused('is an object');
  const isOfMany = types.some(isList);
  if (isOfMany && place !== 'query') return refused(`is a list in a ${place}`);
  if (nestedIn(schema) !== undefined) return refused('is a list of objects or lists');
  const text = tidied({ type: 'string', ...schema });
  if (place === 'path') return { schema: inPath(text), notes };
  if (place === 'header') return { schema: inHeader(text), notes };
  // Alternatives say their types themselves.
  return { schema: known ? schema : text, notes, ...(isOfMany && listStyle(parameter)) };
}

/** How a list is sent. */
export type ListStyle = Pick<ReadParameter, 'join' | 'sentAs'>;

/** OpenAPI has no deepObject for lists: documents that say it mean `ids[]=1&ids[]=2`. */
export function listStyle({ name, style = 'form', explode }: JsonObject): ListStyle {
  if (style === 'deepObject') return { sentAs: String(name).replace(/(?:\[\])?$/, '[]') };
  return { join: (explode ?? style === 'form') === true ? undefined : (SEPARATORS.get(style) ?? ',') };
}

/** The schema with what the parameter says of itself. */
function described({ schema, description, deprecated }: JsonObject): JsonObject {
  const words = { ...(typeof description === 'string' && { description }), ...(deprecated === true && { deprecated }) };
  return { ...asJsonObject(schema), ...words };
}

const isText = ({ type, enum: options }: JsonObject): boolean =>
  [type].flat().includes('string') && options === undefined;

/** A value in a path stands there in every call, and as a text must not lead elsewhere. */
function inPath(schema: JsonObject): JsonObject {
  const { anyOf: _, format, type, ...rest } = schema;
  if (isText(schema)) return tidied({ ...rest, type: 'string', format: 'path-segment' });
  const [only, ...others] = [type].flat().filter((one) => one !== 'null');
  return tidied({ ...rest, format, type: others.length === 0 ? only : [only, ...others] });
}

function inHeader(schema: JsonObject): JsonObject {
  if (!isText(schema)) return schema;
  const { anyOf: _, ...rest } = schema;
  return tidied({ ...rest, type: 'string', pattern: IN_HEADER });
}
