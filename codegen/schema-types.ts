/** JSON Schema as TypeScript. */
import { compile } from 'json-schema-to-typescript';
import { mapSubschemas } from '../src/catalogue/schemas/schema-walk.ts';
import { isJsonObject, type JsonObject } from '../src/json.ts';

/** Keywords that say when a value is valid but not what it is made of. */
const CONDITIONS = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** `export interface <name>` or `export type <name>`. */
export async function declare(schema: JsonObject, name: string): Promise<string> {
  const code = await compile(structuredClone(schema) as Parameters<typeof compile>[0], name, {
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: false,
    style: { singleQuote: true, printWidth: 120 },
  });
  return code.trim();
}

/** In words that the compiler knows: it passes over `prefixItems`, and quotes a pattern. */
function compilable({ prefixItems, patternProperties, ...others }: JsonObject): JsonObject {
  const list = prefixItems === undefined ? {} : { items: prefixItems, additionalItems: false };
  if (!isJsonObject(patternProperties)) return { ...others, ...list };
  const { additionalProperties = true } = others;
  const further = additionalProperties === false ? [] : [additionalProperties];
  const members = { additionalProperties: { anyOf: [...Object.values(patternProperties), ...further] } };
  return { ...others, ...list, ...members };
}

/** Without the conditions inside: the declared properties are the type. */
export function plain(schema: JsonObject): JsonObject {
  const copy = mapSubschemas(schema, (inner) => (isJsonObject(inner) ? plain(inner) : inner));
  for (const keyword of ['if', 'then', 'else', 'examples', 'default']) delete copy[keyword];
  return compilable(copy);
}

/** A request without what says which fields go together: its declared properties are the type. */
export const withoutConditions = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !CONDITIONS.includes(keyword)));
