import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { UsageProblem } from '../../../src/cli/command-line.ts';
import { importFrom } from '../../../src/cli/import/importer.ts';
import { readDocumentOf } from '../../../src/cli/import/openapi.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { writeCatalogue } from '../../catalogue/temporary-catalogue.ts';
import { openCommands } from '../../commands.ts';
import { wordsFor } from '../../words-for.ts';
import { checked, documentOf, emptyCatalogue, imported, importedText } from './imported.ts';

const petty = JSON.stringify({
  swagger: '2.0',
  info: { title: 'Pets', version: '1' },
  host: 'pets.example',
  paths: {
    '/pets': { get: { operationId: 'listPets', produces: ['text/plain'], responses: { 200: { description: 'x' } } } },
  },
});

/** Runs the command on a catalogue without upstreams. */
function run(t: Test, document: string, ...words: string[]) {
  const directory = writeCatalogue(t, {
    'upstreams.yaml': '{}\n',
    'endpoints/image/oil.yaml': null,
    '../document.yaml': document,
  });
  const catalogue = join(directory, 'catalogue');
  const file = join(catalogue, '..', 'document.yaml');
  const all = [
    ...wordsFor('src/cli/import.ts'),
    '--catalogue',
    catalogue,
    ...words.map((word) => (word === 'FILE' ? file : word)),
  ];
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, all, { env: { PATH: process.env.PATH } }, (error, out, err) => {
      t.equal(readFileSync(join(catalogue, 'upstreams.yaml'), 'utf8'), '{}\n', 'nothing is written');
      t.notOk(existsSync(join(catalogue, 'endpoints', 'pets')));
      resolve({ code: error ? 1 : 0, out, err });
    });
  });
}

t.test('what a document says is written on a terminal as text, on the line of what it is said of', async (t) => {
  const writes = '\u001b]0;owned\u0007\u009b2J\u202e\nwritten:\n  forged';
  const get = {
    operationId: 'petsOf',
    parameters: [{ name: `of${writes}`, in: 'query', schema: { type: 'string', default: 5 } }],
    responses: { 200: { description: 'x', content: { 'application/json': { schema: { type: 'object' } } } } },
  };
  const catalogue = emptyCatalogue(t);
  const file = join(catalogue, '..', 'document.json');
  const paths = { '/pets': { get }, [`/pets${writes}`]: { get } };
  const info = { title: 'Pets', version: '1' };
  writeFileSync(file, JSON.stringify({ openapi: '3.0.0', info, servers: [{ url: 'https://pets.example' }], paths }));
  const { out, code } = await openCommands(t)('import', [file, '--price', '0.01', '--catalogue', catalogue]);
  t.equal(code, 0);
  t.match(out, /^not carried over:\n {2}pets-of \(GET \/pets\)/m);
  t.match(out, /^left out:\n {2}pets-of-2 \(GET \/pets\\u001b/m);
  t.notMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u, 'nothing but text and lines');
  t.notMatch(out, /^ {2}forged/m, 'no line of its own');
});

t.test('each mistake on the command line ends it with 1 and says what to do', async (t) => {
  const cases: [string[], RegExp][] = [
    [['FILE'], /^--price says what a call costs/],
    [['FILE', '--price', '0.0000001'], /^--price: .*decimals/],
    [['FILE', '--price', '0'], /^--price: a call that costs nothing/],
    [['FILE', '--price', '0.01', '--group', 'My pets'], /^--group takes lower-case letters.*got My pets/],
    [['FILE', 'other.yaml', '--price', '0.01'], /^name one document/],
    [['FILE', '--price', '0.01', '--bearer', 'PETS_KEY'], /^--bearer is for --mcp/],
    [['https://pets.example', '--mcp', '--price', '0.01', '--bearer', 'k-123'], /^--bearer takes the name of/],
    [['https://pets.example', '--mcp', '--price', '0.01', '--bearer', 'PETS_KEY'], /^--bearer: write the .* PETS_KEY/],
    [['https://a.example', '--mcp', '--price', '0.01', '--base-url', 'https://b.example'], /^--base-url is for a doc/],
    [['FILE', '--mcp', '--price', '0.01'], /give the https address of an MCP server/],
    [['FILE', '--price', '0.01', '--operation', 'listPet'], /there is no operation listPet; did you mean listPets\?/],
  ];
  for (const [words, message] of cases) {
    const { code, err } = await run(t, petty, ...words);
    t.equal(code, 1);
    t.match(err, message);
    t.notMatch(err, /the command failed|\n\s+at /);
  }
});

t.test('a document that cannot be read says why', async (t) => {
  const tenfold = Array.from(
    { length: 9 },
    (_, power) => `x-${power + 1}: &a${power + 1} [${Array(10).fill(`*a${power}`)}]`,
  );
  const cases: [string, RegExp][] = [
    ['', /document\.json is no OpenAPI document: it is empty, or a text such as a web page$/],
    ['<p>Sign in first</p>', /document\.json is no OpenAPI document: it is empty, or a text such as a web page$/],
    ['just: text', /is no OpenAPI document: it says neither openapi nor swagger/],
    ['a: [', /cannot be read as an OpenAPI document: /],
    ['openapi: 4.0.0\npaths: {}', /4\.0\.0/],
    [
      'openapi: 3.1.0\npaths: {}\ncomponents: { schemas: { Node: &node { properties: { next: *node } } } }',
      /document\.json: a YAML alias stands within what it stands for: write it as a \$ref/,
    ],
    [
      `openapi: 3.1.0\npaths: {}\nx-0: &a0 [l]\n${tenfold.join('\n')}`,
      /document\.json: it has more than 10000000 values, its YAML aliases written out/,
    ],
    ['openapi: 3.1.0\ninfo: { title: Pets, version: "1" }', /has no paths: nothing can be imported from it/],
  ];
  for (const [text, message] of cases) {
    await t.rejects(importedText(t, text), { constructor: UsageProblem, message });
  }
  await t.rejects(imported(t, 'nowhere.yaml'), {
    constructor: UsageProblem,
    message: /^there is no file nowhere\.yaml/,
  });
  await t.rejects(imported(t, 'http://pets.example/a.yaml'), { constructor: UsageProblem, message: /is not fetched/ });
  await t.rejects(imported(t, 'https://127.0.0.1:9/pets.json'), {
    constructor: UsageProblem,
    message: /^https:\/\/127\.0\.0\.1:9\/pets\.json cannot be fetched: /,
  });
  await t.rejects(importedText(t, petty, { baseUrl: 'pets' }), {
    constructor: UsageProblem,
    message: /^--base-url takes/,
  });
});

t.test('what is left out is listed with its reason', async (t) => {
  const { code, out } = await run(t, petty, 'FILE', '--price', '0.01');
  t.equal(code, 0);
  t.match(out, /left out:\n {2}list-pets \(GET \/pets\): has no answer to sell\n/);
  t.match(out, /1 operation: 0 written, 0 there already, 1 left out/);
});

t.test('a large document is told of while it is read', async (t) => {
  const responses = { 200: { description: 'x', content: { 'application/zip': {} } } };
  const paths = Object.fromEntries(
    Array.from({ length: 250 }, (_, index) => [`/pets/${index}`, { get: { responses } }]),
  );
  const many = { ...JSON.parse(documentOf({})), paths };
  const { err } = await run(t, JSON.stringify(many), 'FILE', '--price', '0.01');
  t.match(err, /^operations read: 100 of 250\noperations read: 200 of 250\n$/);

  const catalogue = emptyCatalogue(t);
  const source = join(catalogue, '..', 'document.json');
  writeFileSync(source, documentOf({}));
  const told: string[] = [];
  const tell = (line: string) => void told.push(line);
  const wanted = { source, catalogue, price: '0.01', operations: [] };
  await importFrom(readDocumentOf(wanted), wanted, shipped, checked, tell);
  t.same(told, ['endpoints that are checked: 1']);
});

t.test('results that an error with status 200 would fit are named', async (t) => {
  const remarksOn = async (schemas: Readonly<Record<string, object>>) => {
    const paths = Object.entries(schemas).map(([name, more]) => {
      const schema = { properties: { name: { type: 'string' } }, ...more };
      const responses = { 200: { description: 'x', content: { 'application/json': { schema } } } };
      return [`/${name}`, { get: { responses } }];
    });
    const info = { title: 'Pets', version: '1' };
    const servers = [{ url: 'https://pets.example' }];
    const document = JSON.stringify({ openapi: '3.1.0', info, servers, paths: Object.fromEntries(paths) });
    return (await importedText(t, document)).report.remarks;
  };
  const strict = { dog: { required: ['name'] }, eel: { type: 'array' }, fly: { allOf: [{ required: ['name'] }] } };
  const remark = (files: string) =>
    `an error with status 200 would be sold where a result requires no field: write required under result, or failed under upstream, in ${files}`;
  t.same(await remarksOn(strict), []);
  t.same(await remarksOn({ ...strict, cat: {} }), [remark('endpoints/pets/get-cat.yaml')]);
  t.same(await remarksOn({ cat: {}, emu: { required: [] } }), [remark('endpoints/pets/get-cat.yaml and 1 more')]);
});
