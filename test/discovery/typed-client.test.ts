/** Types made from the OpenAPI documents: what a caller's compiler says of calls, and that what it lets pass buys. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypes, { astToString } from 'openapi-typescript';
import t from 'tap';
import typescript from 'typescript';
import { payingFetch } from '../clients.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway();
t.teardown(gateway.stop);

type Call = (baseUrl: string, paying: typeof fetch) => Promise<unknown>;

const options: typescript.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  target: typescript.ScriptTarget.ES2022,
  module: typescript.ModuleKind.ESNext,
  moduleResolution: typescript.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  types: ['node'],
};

const HEAD = [
  "import createClient from 'openapi-fetch';",
  "import type { paths } from './types.ts';",
  'const at = (baseUrl: string, fetch: typeof globalThis.fetch) => createClient<paths>({ baseUrl, fetch });',
];

/** Makes the types of a document, and a module with one call a line: its file, and what the compiler says, by call. */
async function compiled(t: Tap, path: string, calls: readonly string[]) {
  const types = astToString(await openapiTypes(new URL(gateway.url + path)));
  const lines = calls.map(
    (call, index) =>
      `export const call${index} = (url: string, fetch: typeof globalThis.fetch) => at(url, fetch).${call};`,
  );
  const directory = t.testdir({ 'types.ts': types, 'calls.ts': [...HEAD, ...lines, ''].join('\n') });
  const file = join(directory, 'calls.ts');
  const said: string[] = calls.map(() => '');
  const elsewhere: string[] = [];
  for (const { file: at, start = 0, messageText } of typescript.getPreEmitDiagnostics(
    typescript.createProgram([file], options),
  )) {
    const text = typescript.flattenDiagnosticMessageText(messageText, '\n');
    const line = at?.fileName.endsWith('calls.ts') ? at.getLineAndCharacterOfPosition(start).line - HEAD.length : -1;
    if (line in said) said[line] += text;
    else elsewhere.push(text);
  }
  return { file, said, elsewhere };
}

type Tap = Pick<typeof t, 'testdir'>;

/** The calls of a module, which finds packages by their addresses. */
async function loaded(file: string): Promise<Record<string, Call>> {
  const { outputText } = typescript.transpileModule(readFileSync(file, 'utf8'), { compilerOptions: options });
  const client = pathToFileURL('node_modules/openapi-fetch/dist/index.mjs').href;
  return import(`data:text/javascript,${encodeURIComponent(outputText.replace('openapi-fetch', client))}`);
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

for (const path of ['/openapi/x402.json', '/openapi-all.json']) {
  t.test(`a right call by the types of ${path} compiles and buys, a wrong one does not compile`, async (t) => {
    const calls = [RIGHT, SIZED, ...WRONG.map(([call]) => call)];
    const { file, said, elsewhere } = await compiled(t, path, calls);
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
  const calls = [
    "POST('/mpp/image/family-e', { body: { prompt: 'a lighthouse in fog' } })",
    "GET('/mpp/image/family-e', { params: { query: { prompt: 'a lighthouse in fog' } } })",
    "GET('/mpp/image/family-e', { params: { query: { promt: 'a lighthouse in fog' } } })",
  ];
  const { file, said, elsewhere } = await compiled(t, '/openapi.json', calls);
  t.same([elsewhere, said[0], said[1]], [[], '', '']);
  t.match(said[2], /'promt' does not exist/);
  const { call0 } = await loaded(file);
  t.match(await call0?.(gateway.url, fetch), { error: { status: 402, detail: String } });
});

t.test('what an API key asks has types as well', async (t) => {
  const call = "GET('/v1/models/{name}', { params: { path: { name: 'vendor5-k3' } } })";
  const { file, said, elsewhere } = await compiled(t, '/openapi-all.json', [call, call.replace('{ name:', '{ model:')]);
  t.same([elsewhere, said[0]], [[], '']);
  t.match(said[1], /'model' does not exist/);
  const { call0 } = await loaded(file);
  t.match(await call0?.(gateway.url, fetch), { response: { status: 200 }, data: { id: 'vendor5-k3' } });
});
