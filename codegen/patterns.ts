import { subschemas } from '../src/catalogue/schemas/schema-walk.ts';
import type { Route } from '../src/catalogue/types.ts';
import { isJsonObject } from '../src/json.ts';

function patternsOf(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const own = typeof schema.pattern === 'string' ? [schema.pattern] : [];
  const names = isJsonObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  return [...own, ...names, ...subschemas(schema).flatMap((inner) => patternsOf(inner.schema))];
}

/** Every regular expression of the routes' schemas, sorted. Loading the catalogue has found them harmless. */
export const patternsIn = (routes: readonly Route[]): string[] =>
  [...new Set(routes.flatMap(({ request, result }) => [...patternsOf(request), ...patternsOf(result)]))].sort();
