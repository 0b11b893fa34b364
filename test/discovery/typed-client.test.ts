/** Types made from the OpenAPI documents: what a caller's compiler says of calls, and that what it lets pass buys. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import openapiTypes, { astToString } from 'openapi-typescript';
import t from 'tap';
import { payingFetch } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { typeErrors } from '../type-errors.ts';

const gateway = await startGateway();
t.teardown(gateway.stop);

type Call = (baseUrl: string, paying: typeof fetch) => Promise<unknown>;

const COMPILER = {
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  target: 'ES2022',
  module: 'ESNext',
  moduleResolution: 'Bundler',
  allowImportingTsExtensions: true,
  types: ['node'],
};

const HEAD = [
  "import createClient from 'openapi-fetch';",
  "import type { paths } from './types.ts';",
  'const at = (baseUrl: string, fetch: typeof globalThis.fetch) => createClient<paths>({ baseUrl, fetch });',
];

/** The calls of a module, which finds packages by their addresses. */
async function loaded(file: string): Promise<Record<string, Call>> {
  const { code } = await transform(readFileSync(file, 'utf8'), { loader: 'ts', format: 'esm' });
  const client = pathToFileURL('node_modules/openapi-fetch/dist/index.mjs').href;
  return import(`data:text/javascript,${encodeURIComponent(code.replace('openapi-fetch', client))}`);
}

const RIGHT = "POST('/image/family-e', { body: { prompt: 'a lighthouse in fog' } })";
const SIZED = "POST('/image/family-e-2', { body: { prompt: 'a lighthouse in fog', resolution: '2k' } })";

const WRONG: readonly [call: string, said: RegExp][] = [
  [RIGHT.replace('prompt', 'promt'), /'promt' does not exist/],
  [RIGHT.replace("'a lighthouse in fog'", '7'), /'number' is not assignable to type 'string'/],
  [RIGHT.replace("prompt: 'a lighthouse in fog'", ''), /'prompt' is missing/],
  [SIZED.replace('2k', '3k'), /"3k".* is not assignable/],
  [RIGHT.replace('family-e', 'family-z'), /family-z/],
];

const PAID = [RIGHT, SIZED, ...WRONG.map(([call]) => call)];

const MPP = [
  "POST('/mpp/image/family-e', { body: { prompt: 'a lighthouse in fog' } })",
  "GET('/mpp/image/family-e', { params: { query: { prompt: 'a lighthouse in fog' } } })",
  "GET('/mpp/image/family-e', { params: { query: { promt: 'a lighthouse in fog' } } })",
];

const MODEL = "GET('/v1/models/{name}', { params: { path: { name: 'vendor5-k3' } } })";

/** Document -> calls by its types. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  '/openapi/x402.json': PAID,
  '/openapi-all.json': [...PAID, MODEL, MODEL.replace('{ name:', '{ model:')],
  '/openapi.json': MPP,
};

interface Module {
  readonly file: string;
  /** What the compiler says, by call. */
  readonly said: string[];
}

/** Makes the types of a document, and a module with one call a line. */
async function written(path: string, calls: readonly string[]): Promise<Module> {
  const directory = join(home, path);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'types.ts'), astToString(await openapiTypes(new URL(gateway.url + path))));
  const lines = calls.map(
    (call, index) =>
      `export const call${index} = (url: string, fetch: typeof globalThis.fetch) => at(url, fetch).${call};`,
  );
  const file = join(directory, 'calls.ts');
  writeFileSync(file, [...HEAD, ...lines, ''].join('\n'));
  return { file, said: calls.map(() => '') };
}

/** Compiles modules together, since each alone would read all types of packages again. Answers what is said elsewhere. */
function compiled(modules: readonly Module[]): string[] {
  const elsewhere: string[] = [];
  const files = modules.map(({ file }) => file);
  for (const { file, line, message } of typeErrors(home, files, { compilerOptions: COMPILER })) {
    const said = modules.find((module) => module.file === file)?.said ?? [];
    const call = line - 1 - HEAD.length;
    if (call in said) said[call] += message;
    else elsewhere.push(message);
  }
  return elsewhere;
}

const home = t.testdir({});
const modules: Record<string, Module> = {};
for (const [path, calls] of Object.entries(CALLS)) modules[path] = await written(path, calls);
const elsewhere = compiled(Object.values(modules));

/** The module of a document's calls. */
function moduleOf(path: string): Module {
  const module = modules[path];
  if (!module) throw new Error(`no calls by the types of ${path}`);
  return module;
}

for (const path of ['/openapi/x402.json', '/openapi-all.json']) {
  t.test(`a right call by the types of ${path} compiles and buys, a wrong one does not compile`, async (t) => {
    const { file, said } = moduleOf(path);
    t.same([elsewhere, said[0], said[1]], [[], '', '']);
    for (const [index, [call, expected]] of WRONG.entries()) t.match(said[index + 2], expected, call);

    const { call0 } = await loaded(file);
    const earned = await gateway.earned('chain-c');
    const bought = await call0?.(gateway.url, await payingFetch(gateway, 'chain-c'));
    t.match(bought, { data: { image_url: /^http/, metadata: { model: String } }, response: { status: 200 } });
    t.ok((await gateway.earned('chain-c')) > earned, 'the gateway was paid');
    t.match(await call0?.(gateway.url, fetch), { error: { status: 402, x402Version: 1, accepts: Array } });
  });
}

t.test('calls over MPP have types, by either method', async (t) => {
  const { file, said } = moduleOf('/openapi.json');
  t.same([elsewhere, said[0], said[1]], [[], '', '']);
  t.match(said[2], /'promt' does not exist/);
  const { call0 } = await loaded(file);
  t.match(await call0?.(gateway.url, fetch), { error: { status: 402, detail: String } });
});

t.test('what an API key asks has types as well', async (t) => {
  const { file, said } = moduleOf('/openapi-all.json');
  const [right, wrong] = said.slice(PAID.length);
  t.same([elsewhere, right], [[], '']);
  t.match(wrong, /'model' does not exist/);
  const call = (await loaded(file))[`call${PAID.length}`];
  t.match(await call?.(gateway.url, fetch), { response: { status: 200 }, data: { id: 'vendor5-k3' } });
});
