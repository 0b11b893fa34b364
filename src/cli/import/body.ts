/** What an operation takes in its body. */
import { typesOf } from '../../catalogue/endpoints/request-reads.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';
import { resolved } from './document.ts';
import { exampleIn } from './examples.ts';
import { type Form, formIn, isBetterInParts } from './form.ts';
import { isFlat, tidied } from './keywords.ts';
import type { Operation } from './operations.ts';
import { convertSchema, type SchemaContext } from './schema.ts';
import { Unsupported } from './unsupported.ts';

export interface Body {
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Its fields can stand among the request's own. */
  readonly isFlat: boolean;
  readonly example: unknown;
  /** Where it has to be said. */
  readonly contentType: string | undefined;
  /** How it is written; undefined: as JSON. */
  readonly form?: Form | undefined;
  readonly notes: readonly string[];
}

const JSON_TYPE = /^application\/(?:[^;]+\+)?json(?:;|$)|^\*\/\*$|^application\/\*$/i;

/** The first type that is JSON, and what the document says of it. */
export const jsonIn = (content: unknown): { readonly mediaType: string; readonly media: JsonObject } | undefined => {
  const found = Object.entries(asJsonObject(content)).find(([type]) => JSON_TYPE.test(type));
  return found && { mediaType: found[0], media: asJsonObject(found[1]) };
};

/** JSON of no kind of its own, which need not be said. */
export const isPlainJson = (mediaType: string): boolean => /^application\/json(?:;|$)|\*/i.test(mediaType);

export const typesIn = (content: unknown): string => Object.keys(asJsonObject(content)).join(', ');

/** Undefined: it takes none, or is no worse off without. Throws Unsupported for a body that is neither JSON nor a form. */
export function bodyOf({ source, method }: Operation, context: SchemaContext): Body | undefined {
  const { content, required } = resolved(context.root, source.requestBody);
  if (typesIn(content) === '') return undefined;
  if (method === 'GET' && required !== true) return undefined;
  if (method === 'GET') throw new Unsupported('has a body in a GET request');
  const json = jsonIn(content);
  const isRequired = required === true;
  if (!json || isBetterInParts(json.media, content, context)) {
    const form = formIn(content, context);
    if (!form) throw new Unsupported(`takes a body of ${typesIn(content)} alone`);
    if (!isRequired && isNothing(form.schema)) return undefined;
    return { ...form, ...unstreamed(form, source, context), isRequired, contentType: undefined };
  }
  const { mediaType, media } = json;
  const converted = unstreamed(convertSchema(media.schema, 'request', 'body', context), source, context);
  return {
    ...converted,
    isRequired,
    isFlat: isFlat(converted.schema),
    example: exampleIn(media, context.root),
    contentType: isPlainJson(mediaType) ? undefined : mediaType,
  };
}

/** Some documents give an empty form to each operation that takes no body. */
const isNothing = ({ properties = {}, additionalProperties = {}, anyOf }: JsonObject): boolean =>
  anyOf === undefined &&
  [properties, additionalProperties].every((part) => Object.keys(asJsonObject(part)).length === 0);

const STREAM = /event-stream|ndjson|jsonl/i;

/** Whether one of the good answers comes piece by piece. */
const mayStream = ({ responses }: JsonObject, { root }: SchemaContext): boolean =>
  Object.entries(asJsonObject(responses)).some(
    ([status, response]) => status.startsWith('2') && STREAM.test(typesIn(resolved(root, response).content)),
  );

/** Without the answer that streams, which is not the one that is sold. */
function unstreamed(
  { schema, notes }: Pick<Body, 'schema' | 'notes'>,
  source: JsonObject,
  context: SchemaContext,
): Pick<Body, 'schema' | 'notes'> {
  const { stream, ...others } = asJsonObject(schema.properties);
  if (!mayStream(source, context) || !typesOf(stream)?.includes('boolean')) return { schema, notes };
  const { description } = asJsonObject(stream);
  const only = tidied({ type: 'boolean', enum: [false], default: false, description });
  return {
    schema: { ...schema, properties: { ...others, stream: only } },
    notes: [...notes, 'body.stream: no answer is streamed, and false alone is taken'],
  };
}

/** What is said of a body that is not sent, and might hold something: some documents give each operation an empty one. */
export function notesOnUnsent({ source, method }: Operation, { root }: SchemaContext): string[] {
  if (method !== 'GET') return [];
  const { content } = resolved(root, source.requestBody);
  const schemas = Object.values(asJsonObject(content)).map((media) => resolved(root, asJsonObject(media).schema));
  const isEmpty = schemas.every(({ properties = {} }) => Object.keys(asJsonObject(properties)).length === 0);
  return isEmpty ? [] : ['the body of a GET request: left out'];
}
