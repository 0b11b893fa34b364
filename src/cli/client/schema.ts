import { isJsonObject, type JsonObject } from '../../json.ts';

/** Keywords that a type is made of. No other comes through: some make the compiler read files, or write what they hold. */
const TYPES = ['type', 'enum', 'const', 'required'];
const SCHEMAS = ['items', 'additionalProperties'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties'];

/** Deeper than this a value is any. */
const DEEPEST = 32;

/** What is neither a schema nor `true` or `false` could be anything: no list is one, whatever older drafts say. */
const within = (value: unknown, depth: number): unknown => {
  if (typeof value === 'boolean') return value;
  return isJsonObject(value) ? safeSchema(value, depth + 1) : {};
};

/** The compiler follows what refers to elsewhere wherever it stands, in a constant, too. */
const isPlain = (value: unknown): boolean => [value].flat().every((each) => each === null || typeof each !== 'object');

/** The same schema of those keywords alone, with descriptions that end no comment. */
export function safeSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > DEEPEST) return {};
  const safe = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (TYPES.includes(keyword)) return isPlain(value) ? [[keyword, value]] : [];
    if (SCHEMAS.includes(keyword)) return [[keyword, within(value, depth)]];
    if (LISTS.includes(keyword) && Array.isArray(value)) return [[keyword, value.map((each) => within(each, depth))]];
    if (keyword === 'description' && typeof value === 'string') return [[keyword, inComment(value)]];
    if (!MAPS.includes(keyword) || !isJsonObject(value)) return [];
    return [[keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, within(each, depth)]))]];
  });
  return Object.fromEntries(safe);
}

/** Text that may stand in a comment of one line. */
export const inComment = (text: string): string =>
  text.replaceAll('*/', '*\\/').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
