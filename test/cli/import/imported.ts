/** Imports documents into catalogues of a test's own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { checkedCatalogue } from '../../../src/catalogue/checked.ts';
import { checkCatalogue } from '../../../src/catalogue/load.ts';
import type { EndpointFile } from '../../../src/catalogue/types.ts';
import { importFrom, type Outcome, type Report } from '../../../src/cli/import/importer.ts';
import { type DocumentOptions, readDocumentOf } from '../../../src/cli/import/openapi.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { asJsonObject, type JsonObject } from '../../../src/json.ts';
import { writeCatalogue } from '../../catalogue/temporary-catalogue.ts';

export const UPSTREAMS = `# Who serves what is sold.
other:
  adapter: http   # with a word on it
  baseUrl: https://other.example
`;

/** A right catalogue that sells nothing yet. */
export const emptyCatalogue = (t: Test): string =>
  join(writeCatalogue(t, { 'upstreams.yaml': UPSTREAMS, 'endpoints/image/oil.yaml': null }), 'catalogue');

/** All of them share their settings. */
export const checked = checkedCatalogue();

export interface Imported {
  readonly report: Report;
  readonly catalogue: string;
  outcome(name: string): Outcome;
  /** The file of an endpoint that was written. */
  endpoint(name: string): EndpointFile & { readonly request: JsonObject; readonly upstream: JsonObject };
}

/** Imports a file, and holds that the catalogue passes its check afterwards. */
export async function imported(
  t: Test,
  source: string,
  options: Partial<DocumentOptions> = {},
  catalogue = emptyCatalogue(t),
): Promise<Imported> {
  const wanted = { source, catalogue, price: '0.01', operations: [], ...options };
  const report = await importFrom(readDocumentOf(wanted), wanted, shipped, checked);
  t.same(checkCatalogue(catalogue, shipped, checked).diagnostics, [], 'the catalogue is right');
  const outcome = (name: string) => {
    const found = report.outcomes.find((one) => one.name === name);
    if (!found) throw new Error(`no operation ${name}: ${report.outcomes.map((one) => one.name).join(' ')}`);
    return found;
  };
  return {
    report,
    catalogue,
    outcome,
    endpoint: (name) => parse(readFileSync(join(catalogue, outcome(name).file), 'utf8')),
  };
}

/** The text of a document of one operation, `POST /things`, unless `changes` say otherwise. */
export const documentOf = (operation: object, changes: object = {}): string => {
  const answer = { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } };
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    servers: [{ url: 'https://api.things.example/v1' }],
    paths: { '/things': { post: { operationId: 'make', responses: answer, ...operation } } },
    ...changes,
  });
};

/** Imports a document that is given as its text. */
export function importedText(t: Test, text: string, options: Partial<DocumentOptions> = {}): Promise<Imported> {
  const catalogue = emptyCatalogue(t);
  const source = join(catalogue, '..', 'document.json');
  writeFileSync(source, text);
  return imported(t, source, options, catalogue);
}

export const jsonBody = (schema: object, more: object = {}): object => ({
  requestBody: { required: true, content: { 'application/json': { schema, ...more } } },
});

export const propertiesOf = ({ request }: { readonly request: JsonObject }): JsonObject =>
  asJsonObject(request.properties);
