import { join } from 'node:path';
import type { CatalogueParts } from '../src/catalogue/contracts.ts';
import { loadCatalogue } from '../src/catalogue/load.ts';
import { readFragments } from '../src/catalogue/yaml/fragments.ts';
import { Diagnostics, readDocument } from '../src/catalogue/yaml/yaml-document.ts';
import { yamlFilesBelow } from '../src/catalogue/yaml/yaml-files.ts';
import { isJsonObject } from '../src/json.ts';
import { editorSchemas } from './editor-schemas.ts';
import { patternsIn } from './patterns.ts';
import { reference } from './reference.ts';
import { endpointTypes, fragmentTypes } from './types.ts';

/** Path below `generated/` -> text, for the catalogue in `directory`. Throws CatalogueErrors when that has problems. */
export async function generate(directory: string, parts: CatalogueParts): Promise<Map<string, string>> {
  const catalogue = loadCatalogue(directory, parts);
  // The catalogue is right: what the files say is read once more, with their references.
  const diagnostics = new Diagnostics();
  const fragments = readFragments(join(directory, 'schemas'), diagnostics);
  const files = new Map(editorSchemas(catalogue, [...fragments.keys()], parts));
  const requests = new Set<string>();
  for (const { id } of catalogue.endpoints) {
    const { value } = readDocument(join(directory, 'endpoints', `${id}.yaml`), diagnostics);
    if (!isJsonObject(value)) continue;
    const mirrors = Array.isArray(value.mirrors) ? value.mirrors : [];
    for (const { request } of [value, ...mirrors]) {
      if (isJsonObject(request) && typeof request.$ref === 'string') requests.add(request.$ref);
    }
    files.set(join('endpoints', `${id}.ts`), await endpointTypes(value, fragments, parts.rails));
  }
  for (const name of fragments.keys()) {
    const types = await fragmentTypes(name, fragments, requests.has(name));
    if (types !== undefined) files.set(join('schemas', `${name}.ts`), types);
  }
  files.set('patterns.json', `${JSON.stringify(patternsIn(catalogue.routes), null, 2)}\n`);
  return files;
}

/** `README.md` of the catalogue in `directory`, which has no problems. */
export function describeCatalogue(directory: string, parts: CatalogueParts): Map<string, string> {
  const diagnostics = new Diagnostics();
  const read = (path: string): unknown => readDocument(join(directory, path), diagnostics).value;
  const yamlIn = (folder: string): unknown[] =>
    yamlFilesBelow(join(directory, folder)).map((name) => read(join(folder, name)));
  const [service, networks, upstreams] = ['service', 'networks', 'upstreams'].map((name) => read(`${name}.yaml`));
  const files = { service, networks, upstreams, endpoints: yamlIn('endpoints'), schemas: yamlIn('schemas') };
  return new Map([['README.md', reference(files, parts)]]);
}
