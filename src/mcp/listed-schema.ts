/**
 * What a tool takes, as every model's API takes it: one keyword that an API does not know has the whole request refused, with
 * every tool in it and those of other servers. What is left out here only makes a schema wider: `describe_endpoint` tells
 * it, and each answer to a call that does not fit.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../json.ts';

/**
 * Sources: `Schema` of Gemini's API ("Unknown name" for every other one); OpenAI's "Structured outputs", "Supported schemas";
 * what llama.cpp and LM Studio make a grammar of.
 */
const TAKEN = new Set([
  ...['type', 'title', 'description', 'default', 'enum', 'properties', 'required', 'additionalProperties', 'items'],
  ...['anyOf', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'format'],
]);

/** Taken below the top alone. */
const REFUSED_AT_TOP = new Set(['anyOf', 'enum']);

const COUNTS = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);

/** llama.cpp makes as many rules of a count, and refuses some thousands. */
const MOST_COUNTED = 500;

/** Without lookaround, which OpenAI refuses, and without escapes and groups, of which llama.cpp reads some; it wants both ends. */
const PLAIN_PATTERN = /^\^[^\\(|]*\$$/;

/** The one that Gemini takes besides its own. */
const TAKEN_FORMAT = 'date-time';

function isTaken([keyword, value]: [string, unknown]): boolean {
  if (!TAKEN.has(keyword) || value === undefined) return false;
  if (COUNTS.has(keyword)) return Number(value) <= MOST_COUNTED;
  if (keyword === 'pattern') return PLAIN_PATTERN.test(String(value));
  return keyword !== 'format' || value === TAKEN_FORMAT;
}

/** Some want `items` of every list. */
const ofType = (type: unknown, items: unknown = {}): JsonObject => (type === 'array' ? { type, items } : { type });

/** Gemini takes texts alone: others are told of in words. */
function valuesOf(values: readonly unknown[], description: unknown): JsonObject {
  if (values.every((value) => typeof value === 'string')) return { enum: values };
  const words = `One of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  return { enum: undefined, description: typeof description === 'string' ? `${description}. ${words}` : words };
}

/** The same in keywords that are taken. */
function reworded(schema: JsonObject): JsonObject {
  const { const: only, oneOf, type, items } = schema;
  const values = only === undefined ? schema.enum : [only];
  return {
    ...schema,
    ...(oneOf !== undefined && { anyOf: oneOf }),
    ...(Array.isArray(type) && {
      type: undefined,
      anyOf: schema.anyOf ?? oneOf ?? type.map((each) => ofType(each, items)),
    }),
    ...(Array.isArray(values) && valuesOf(values, schema.description)),
    // They speak of what these leave over.
    ...('patternProperties' in schema && { additionalProperties: true }),
    ...('prefixItems' in schema && { items: {} }),
  };
}

function listed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(listed);
  if (!isJsonObject(schema)) return schema;
  const taken = Object.entries(reworded(schema)).filter(isTaken);
  return Object.fromEntries(taken.map(([keyword, value]) => [keyword, listedValue(keyword, value)]));
}

function listedValue(keyword: string, value: unknown): unknown {
  if (keyword === 'properties' && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, listed(field)]));
  return ['items', 'additionalProperties', 'anyOf'].includes(keyword) ? listed(value) : value;
}

export function listedSchema(schema: JsonObject): Tool['inputSchema'] {
  const taken = Object.entries(listed(schema) as JsonObject).filter(([keyword]) => !REFUSED_AT_TOP.has(keyword));
  return { ...Object.fromEntries(taken), type: 'object' };
}
