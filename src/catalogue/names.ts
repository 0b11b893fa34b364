import { isJsonObject, type JsonObject } from '../json.ts';
import { choices } from './yaml/suggest.ts';
import { below, type Diagnostics, type SourceLocation } from './yaml/yaml-document.ts';

/** Every name of a kind, for `x-names: <kind>` in schemas. Undefined: the file that lists them cannot be read. */
export type KnownNames = { readonly [kind: string]: readonly string[] | undefined };

/** Reports every text that its schema marks as the name of something, and that names nothing. */
export function checkNames(
  location: SourceLocation,
  value: unknown,
  schema: JsonObject,
  known: KnownNames,
  diagnostics: Diagnostics,
): void {
  if (value === undefined) return;
  const kind = schema['x-names'];
  if (typeof kind === 'string') {
    const names = known[kind];
    if (names && !names.includes(String(value))) {
      diagnostics.add(location, `no ${kind} ${String(value)}`, choices(String(value), names));
    }
  } else if (Array.isArray(value)) {
    const { items } = schema;
    if (!isJsonObject(items)) return;
    for (const [index, item] of value.entries()) checkNames(below(location, index), item, items, known, diagnostics);
  } else if (isJsonObject(value) && isJsonObject(schema.properties)) {
    for (const [key, inner] of Object.entries(schema.properties)) {
      if (isJsonObject(inner)) checkNames(below(location, key), value[key], inner, known, diagnostics);
    }
  }
}
