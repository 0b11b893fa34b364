import { join, sep } from 'node:path';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CheckedCatalogue } from '../checked.ts';
import { mapSubschemas, subschemas } from '../schemas/schema-walk.ts';
import { below, type CatalogueDocument, type Diagnostics, readDocument, type SourceLocation } from './yaml-document.ts';
import { yamlFilesBelow } from './yaml-files.ts';

/** A schema of `catalogue/schemas/` that endpoints share under the name of its file. */
export interface Fragment {
  readonly name: string;
  readonly document: CatalogueDocument;
  readonly schema: JsonObject;
}

export type Fragments = ReadonlyMap<string, Fragment>;

export function readFragments(directory: string, diagnostics: Diagnostics, checked?: CheckedCatalogue): Fragments {
  const fragments = new Map<string, Fragment>();
  for (const fileName of yamlFilesBelow(directory)) {
    if (fileName.includes(sep) || !fileName.endsWith('.yaml')) continue;
    const document = readDocument(join(directory, fileName), diagnostics, checked);
    const name = fileName.slice(0, -'.yaml'.length);
    const usable = isJsonObject(document.value);
    if (!usable && document.value !== undefined) {
      diagnostics.add({ document, path: [] }, 'a schema must be a map', 'write keywords such as type and properties');
    }
    fragments.set(name, { name, document, schema: usable ? (document.value as JsonObject) : {} });
  }
  for (const fragment of fragments.values()) reportCycles(fragment, fragments, diagnostics);
  return fragments;
}

function references(schema: unknown, location: SourceLocation): { name: string; location: SourceLocation }[] {
  if (!isJsonObject(schema)) return [];
  const own = typeof schema.$ref === 'string' ? [{ name: schema.$ref, location: below(location, '$ref') }] : [];
  return own.concat(subschemas(schema).flatMap((inner) => references(inner.schema, below(location, ...inner.steps))));
}

function reportCycles(start: Fragment, fragments: Fragments, diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  const wayBack = (name: string): string[] | undefined => {
    if (name === start.name) return [name];
    const fragment = fragments.get(name);
    if (!fragment || seen.has(name)) return undefined;
    seen.add(name);
    for (const next of references(fragment.schema, { document: fragment.document, path: [] })) {
      const way = wayBack(next.name);
      if (way) return [name, ...way];
    }
    return undefined;
  };
  for (const { name, location } of references(start.schema, { document: start.document, path: [] })) {
    const way = wayBack(name);
    if (way) {
      diagnostics.add(location, `the fragment ${start.name} contains itself: ${[start.name, ...way].join(' -> ')}`);
    }
  }
}

/**
 * The schema with every `$ref` replaced by a copy of the fragment it names; keywords beside `$ref` win over the
 * fragment's, `properties` one by one. Unknown and circular references, and what is no schema, become empty schemas: the
 * checker reports them.
 */
export function inlineFragments(schema: unknown, fragments: Fragments, within: readonly string[] = []): JsonObject {
  if (!isJsonObject(schema)) return {};
  const { $ref: reference, ...own } = schema;
  const resolved = mapSubschemas(own, (inner) =>
    typeof inner === 'boolean' ? inner : inlineFragments(inner, fragments, within),
  );
  if (typeof reference !== 'string') return resolved;
  const fragment = within.includes(reference) ? undefined : fragments.get(reference);
  const shared = inlineFragments(fragment?.schema, fragments, [...within, reference]);
  if (!isJsonObject(shared.properties) || !isJsonObject(resolved.properties)) return { ...shared, ...resolved };
  return { ...shared, ...resolved, properties: { ...shared.properties, ...resolved.properties } };
}
