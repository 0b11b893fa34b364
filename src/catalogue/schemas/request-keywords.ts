/**
 * Keywords of our own for the properties of a request, where JSON Schema has no words. They are published as they are: JSON
 * Schema lets readers pass over keywords that they do not know.
 */

import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { JsonSchema } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, type SourceLocation } from '../yaml/yaml-document.ts';
import { countries } from './countries.ts';

interface ReadFrom {
  /** The property that holds the text. */
  readonly field: string;
  /** Value -> words that stand for it. */
  readonly words: { readonly [value: string]: readonly string[] };
}

/** Keyword -> what its value has to fit, and what it is. */
export const requestKeywords = {
  'x-not-above': {
    type: 'string',
    description: 'The number is at most that of this other property, where both are given',
  },
  'x-country': { const: true, description: 'The text is the code of a country, in any case' },
  'x-whole': { const: true, description: 'The number is rounded to a whole one' },
  'x-read-from': {
    description: 'Left out, the property is what the words of a text say',
    type: 'object',
    required: ['field', 'words'],
    additionalProperties: false,
    properties: {
      field: { type: 'string', description: 'The property that holds the text' },
      words: {
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
        description: 'Value: words that stand for it',
      },
    },
  },
} as const;

/** Makes a validator know the keywords. Only `x-not-above` and `x-country` can refuse a value. */
export function addRequestKeywords(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'x-not-above',
    type: 'number',
    error: { message: ({ schema }) => `must not be above ${schema}` },
    validate: (other: string, value: number, _schema?: unknown, place?: { parentData: Record<string, unknown> }) => {
      const limit = place?.parentData[other];
      return typeof limit !== 'number' || value <= limit;
    },
  });
  ajv.addKeyword({
    keyword: 'x-country',
    type: 'string',
    error: { message: 'must be the code of a country' },
    validate: (_isCountry: true, code: string) => countries.has(code.toLowerCase()),
  });
  ajv.addKeyword({ keyword: 'x-whole', type: 'number' });
  ajv.addKeyword({ keyword: 'x-read-from' });
}

const propertiesOf = (request: JsonSchema): Readonly<Record<string, JsonObject>> =>
  (isJsonObject(request.properties) ? request.properties : {}) as Readonly<Record<string, JsonObject>>;

/** Reports keywords that name a property that is not there, or a value that the property does not take. */
export function checkRequestKeywords(request: JsonSchema, location: SourceLocation, diagnostics: Diagnostics): void {
  const properties = propertiesOf(request);
  const demand = (name: string, types: readonly unknown[], keyword: string, at: SourceLocation): void => {
    if (types.includes(properties[name]?.type)) return;
    const wrong = `${keyword} names ${name}, which is no property of type ${types.join(' or ')}`;
    diagnostics.add(at, wrong, choices(name, Object.keys(properties)));
  };
  for (const [name, property] of Object.entries(properties)) {
    const at = below(location, 'properties', name);
    const other = property['x-not-above'];
    if (typeof other === 'string') demand(other, ['number', 'integer'], 'x-not-above', below(at, 'x-not-above'));
    const read = property['x-read-from'];
    if (!isReadFrom(read)) continue;
    demand(read.field, ['string'], 'x-read-from', below(at, 'x-read-from', 'field'));
    const allowed: unknown = isJsonObject(property.items) ? property.items.enum : property.enum;
    const values = Array.isArray(allowed) ? allowed.map(String) : [];
    for (const value of Object.keys(read.words)) {
      if (values.includes(value)) continue;
      diagnostics.add(
        below(at, 'x-read-from', 'words', value),
        `${name} does not take ${value}`,
        choices(value, values),
      );
    }
  }
}

const isReadFrom = (value: unknown): value is ReadFrom =>
  isJsonObject(value) && typeof value.field === 'string' && isJsonObject(value.words);

/**
 * A valid input as it is priced and served: numbers rounded, and what its words say filled in. What is read out of words
 * is left out again where `isValid` refuses the input with it.
 */
export function completeInput(
  request: JsonSchema,
  input: Record<string, unknown>,
  isValid: (input: Record<string, unknown>) => boolean,
): Record<string, unknown> {
  let complete = input;
  for (const [name, property] of Object.entries(propertiesOf(request))) {
    const given = complete[name];
    if (property['x-whole'] === true && typeof given === 'number') complete[name] = Math.round(given);
    const read = property['x-read-from'];
    if (given !== undefined || !isReadFrom(read)) continue;
    const said = saidIn(String(complete[read.field] ?? ''), read.words);
    if (said.length === 0) continue;
    const filled = { ...complete, [name]: property.type === 'array' ? said : said[0] };
    if (isValid(structuredClone(filled))) complete = filled;
  }
  return complete;
}

/** The values whose words stand in the text, whole and in any case; "not used" does not say "used". */
const saidIn = (text: string, words: ReadFrom['words']): string[] =>
  Object.entries(words).flatMap(([value, phrases]) => (phrases.some((phrase) => stands(phrase, text)) ? value : []));

function stands(phrase: string, text: string): boolean {
  const literal = phrase.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');
  const denied = '(?<!\\b(?:not|no|non|never|without|except)[\\s-](?:(?:on|at|from|via)\\s)?)';
  const whole = `(?<![\\p{L}\\p{N}])${denied}${literal}(?![\\p{L}\\p{N}])`;
  return new RegExp(whole, 'iu').test(text);
}
