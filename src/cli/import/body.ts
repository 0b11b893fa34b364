/** What an operation takes in its body. */
import { asJsonObject, type JsonObject } from '../../json.ts';
import { resolved } from './document.ts';
import { exampleIn } from './examples.ts';
import type { Operation } from './operations.ts';
import { convertSchema, type SchemaContext } from './schema.ts';
import { Unsupported } from './unsupported.ts';

export interface Body {
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Its fields can stand among the request's own. */
  readonly isFlat: boolean;
  readonly example: unknown;
  readonly notes: readonly string[];
}

const JSON_TYPE = /^application\/(?:[^;]+\+)?json(?:;|$)|^\*\/\*$|^application\/\*$/i;

/** The media type object of the first type that is JSON. */
export const jsonIn = (content: unknown): JsonObject | undefined => {
  const found = Object.entries(asJsonObject(content)).find(([type]) => JSON_TYPE.test(type));
  return found && asJsonObject(found[1]);
};

export const typesIn = (content: unknown): string => Object.keys(asJsonObject(content)).join(', ');

/** Undefined: it takes none. Throws Unsupported for a body that is no JSON. */
export function bodyOf({ source, method }: Operation, context: SchemaContext): Body | undefined {
  const { content, required } = resolved(context.root, source.requestBody);
  if (typesIn(content) === '') return undefined;
  if (method === 'GET') throw new Unsupported('has a body in a GET request');
  const media = jsonIn(content);
  if (!media) throw new Unsupported(`takes a body of ${typesIn(content)} alone`);
  const { schema, notes } = convertSchema(media.schema, 'request', 'body', context);
  return {
    schema,
    isRequired: required === true,
    isFlat: isFlat(schema),
    example: exampleIn(media, context.root),
    notes,
  };
}

/** An object of named fields alone. */
function isFlat({ type, properties, additionalProperties, anyOf, allOf }: JsonObject): boolean {
  const isObject = [type].flat().every((one) => one === 'object' || one === 'null');
  const isOpen = typeof additionalProperties === 'object' || (anyOf ?? allOf) !== undefined;
  return isObject && !isOpen && Object.keys(asJsonObject(properties)).length > 0;
}
