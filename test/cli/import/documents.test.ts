import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importFrom } from '../../../src/cli/import/importer.ts';
import { readDocumentOf } from '../../../src/cli/import/openapi.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { checked, emptyCatalogue, type Imported, imported, importedText, propertiesOf, UPSTREAMS } from './imported.ts';

const documents = 'test/cli/import/documents';

const counts = ({ report }: Imported) => {
  const of = (kind: string) => report.outcomes.filter((outcome) => outcome.kind === kind).length;
  return { written: of('written'), there: of('there already'), left: of('left out') };
};

t.test('a large OpenAPI 3.0 document', async (t) => {
  const made = await imported(t, join(documents, 'blockfrost.yaml'));
  t.same(counts(made), { written: 121, there: 0, left: 8 });
  t.match(made.report.upstream, {
    name: 'blockfrost',
    isNew: true,
    file: {
      adapter: 'http',
      baseUrl: 'https://cardano-mainnet.blockfrost.io/api/v0',
      keys: { key: 'BLOCKFROST_API_KEY' },
      settings: { authorize: { header: 'project_id', value: '{key}' } },
    },
  });
  t.match(made.outcome('post-tx-submit').notes, ['takes a body of application/cbor alone']);
  t.match(made.outcome('ipfs-add').notes, ['is at https://ipfs.blockfrost.io/api/v0: import it with --base-url']);
  const block = made.endpoint('get-blocks-hash-or-number');
  t.match(block, {
    summary: 'Specific block',
    path: '/blockfrost/get-blocks-hash-or-number',
    price: { rule: 'fixed', amount: '0.01' },
    request: { required: ['hash_or_number'] },
    upstream: { via: 'blockfrost', method: 'GET', path: '/blocks/{hash_or_number}', status: { 404: 'not-found' } },
  });
  t.same(propertiesOf(block).hash_or_number, {
    type: 'string',
    format: 'path-segment',
    description: 'Hash or number of the requested block.',
  });
  t.match(block.result.examples, [{ time: 1641338934, height: 15243593 }], "the provider's own example");
});

t.test('an OpenAPI 3.1 document with schemas that contain themselves', async (t) => {
  const made = await imported(t, join(documents, 'figma.yaml'));
  t.same(counts(made), { written: 53, there: 0, left: 1 });
  t.same(made.report.upstream.file.settings, { authorize: { header: 'X-Figma-Token', value: '{key}' } });
  t.match(made.outcome('delete-dev-resource').notes, ['has no answer to sell']);
  t.match(made.outcome('get-file').notes, [/^result: too large, cut off \d levels down$/]);
  t.match(made.endpoint('post-webhook'), { upstream: { body: 'input', status: { 400: 'invalid-input' } } });
});

t.test('a Swagger 2.0 document, which asks for OAuth', async (t) => {
  const made = await imported(t, join(documents, 'netlify.json'));
  t.same(counts(made), { written: 130, there: 0, left: 51 });
  t.match(made.report.remarks, [/netlifyAuth is oauth2: its access token is sent as a bearer token/]);
  t.same(made.report.upstream.file.settings, { authorize: { bearer: 'key' } });
  t.match(made.endpoint('list-site-submissions'), {
    summary: 'List site submissions',
    result: { type: 'array' },
    upstream: { path: '/sites/{site_id}/submissions', query: { page: 'page', per_page: 'per_page' } },
  });
  t.match(made.endpoint('create-site-build'), { upstream: { encoding: 'multipart', upload: { zip: 'zip' } } });

  const before = readFileSync(join(made.catalogue, 'upstreams.yaml'), 'utf8');
  t.ok(before.startsWith(UPSTREAMS), 'what upstreams.yaml said stays as it was');
  const again = await imported(t, join(documents, 'netlify.json'), { price: '0.02' }, made.catalogue);
  t.same(counts(again), { written: 0, there: 130, left: 51 }, 'nothing is overwritten');
  t.equal(readFileSync(join(made.catalogue, 'upstreams.yaml'), 'utf8'), before);
  t.equal(again.endpoint('list-site-submissions').price.amount, '0.01');
});

t.test('one operation, under a group and an upstream of the operator', async (t) => {
  const options = { operations: ['get_/blocks/latest', 'GET /health'], group: 'cardano', upstream: 'ledger' };
  const catalogue = emptyCatalogue(t);
  const source = join(documents, 'blockfrost.yaml');
  const wrong = { source, catalogue, price: '0.01', ...options };
  await t.rejects(
    importFrom(readDocumentOf(wrong), wrong, shipped, checked),
    /--operation: there is no operation get_\/blocks\/latest; /,
  );
  const made = await imported(t, source, { ...options, operations: ['GET /blocks/latest', 'GET /health'] }, catalogue);
  t.same(made.report.outcomes.map(({ file }) => file).sort(), [
    'endpoints/cardano/get-blocks-latest.yaml',
    'endpoints/cardano/get-health.yaml',
  ]);
  t.match(made.endpoint('get-health'), { path: '/cardano/get-health', upstream: { via: 'ledger', path: '/health' } });
});

t.test('a version that YAML reads as a number, and one of two numbers, is a version', async (t) => {
  const answer = '{ description: Fine, content: { application/json: { schema: { type: object } } } }';
  const things = `info: { title: Things, version: "1" }
servers: [{ url: https://things.example }]
paths: { /things: { get: { operationId: list, responses: { 200: ${answer} } } } }
`;
  const old = `swagger: 2.0
info: { title: Things, version: "1" }
host: things.example
paths:
  /things:
    get: { operationId: list, parameters: [], responses: { 200: { description: Fine, schema: { type: object } } } }
`;
  for (const text of [`openapi: 3.0\n${things}`, `openapi: 3.1\n${things}`, `openapi: "3.0"\n${things}`, old]) {
    const { outcome, report } = await importedText(t, text);
    t.equal(outcome('list').kind, 'written', text.slice(0, 14));
    t.match(report.upstream.file.baseUrl, /^https:\/\/things\.example/);
  }
  const catalogue = emptyCatalogue(t);
  const newer = join(catalogue, '..', 'document.yaml');
  writeFileSync(newer, `openapi: 3.2\n${things}`);
  const options = { source: newer, catalogue, price: '0.01', operations: [] };
  await t.rejects(
    importFrom(readDocumentOf(options), options, shipped, checked),
    /says OpenAPI 3\.2; what can be imported is 3\.0, 3\.1/,
  );
});
