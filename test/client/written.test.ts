/** What `turnpike client` makes of documents that anybody may have written. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import typescript from 'typescript';
import { CatalogueErrors } from '../../src/catalogue/yaml/diagnostic.ts';
import { readArguments } from '../../src/cli/client/arguments.ts';
import { readSold } from '../../src/cli/client/read.ts';
import { UsageProblem } from '../../src/cli/command-line.ts';
import type { OpenApiDocument } from '../../src/discovery/openapi.ts';
import { documentsOf, endpoint, read as readDocument, routesOf } from '../discovery/samples.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { writeClient } from './shop.ts';

async function serve(t: Test, documents: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const found = documents[url];
    if (found === undefined) response.writeHead(404).end();
    else response.end(typeof found === 'string' ? found : JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What the command reads before it writes anything, in this process. */
const read = async (words: readonly string[]) => await readSold(readArguments(words, {}), () => {});

/** What the command says in its own words. */
const isPrinted = (error: unknown): boolean => error instanceof UsageProblem || error instanceof CatalogueErrors;

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const document = (paths: object) => ({
  openapi: '3.1.0',
  'x-service-info': { mcp: 'https://shop.example/mcp' },
  paths,
});

const operation = (request: object, result: object, summary = 'A thing') => ({
  post: {
    summary,
    requestBody: { content: { 'application/json': { schema: request } } },
    responses: { 200: { content: { 'application/json': { schema: result } } } },
    'x-payment-info': { price: '0.05', offers: [{ currency: USDC }, { currency: '0xSomethingElse' }] },
  },
});

t.test('words of a gateway become types and comments, and no code', async (t) => {
  const evil = '*/ throw new Error("run"); /*';
  const quotes = `'"\n`;
  const url = await serve(t, {
    '/openapi.json': document({
      [`/x'; ${evil}`]: operation(
        {
          title: 'Run; throw 1',
          tsType: 'string; throw new Error("run")',
          $ref: 'file:///etc/passwd',
          description: evil,
          type: 'object',
          required: ['a b', evil],
          properties: {
            [evil]: { type: 'string', description: `${evil}\u2028throw 2`, tsType: 'never; throw 3' },
            'a b': { enum: [evil, '`; throw 4`'] },
            [quotes]: { const: quotes },
          },
        },
        { $ref: '#/constructor', type: 'array', items: { type: 'integer', title: '1; throw 5' } },
        `${evil}\n${evil}`,
      ),
    }),
  });
  const { code, out, err } = await writeClient('--url', url);
  t.equal(code, 0, err);
  const source = typescript.createSourceFile('gateway.ts', out, typescript.ScriptTarget.Latest, true);
  const problems = (source as unknown as { parseDiagnostics: unknown[] }).parseDiagnostics;
  t.same(problems, []);
  const kinds = source.statements.map(({ kind }) => typescript.SyntaxKind[kind]);
  const harmless = ['ImportDeclaration', 'InterfaceDeclaration', 'TypeAliasDeclaration'];
  t.same(
    kinds.filter((kind) => !harmless.includes(kind)),
    ['FirstStatement'],
    'one constant, and types',
  );
  t.match(out, '"chain-c"');
  t.match(err, /^0xSomethingElse is no asset that this package knows/);
});

t.test('the items of a list that is sold over MPP have their types', async (t) => {
  const row = {
    type: 'object',
    required: ['symbol', 'price'],
    properties: {
      symbol: { type: 'string', description: `What it is traded as: ${'in capitals, '.repeat(10)}` },
      price: { type: 'string' },
    },
    additionalProperties: false,
  } as const;
  const result = { type: 'array', items: row } as const;
  const operation = { operationId: 'mpp_rows', tag: 'Prices' };
  const rows = endpoint(
    'token/rows',
    { path: '/token/rows', result },
    {
      path: '/mpp/token/rows',
      kind: 'operation',
      rail: 'mpp',
      methods: ['GET', 'POST'],
      networks: [],
      result,
      operation,
    },
  );
  const openApi = readDocument<OpenApiDocument>(documentsOf({ routes: routesOf(rows) }), '/openapi.json');
  const { externalDocs: _, ...document } = openApi;
  const url = await serve(t, { '/openapi.json': document });
  const { code, out, err } = await writeClient('--url', url);
  t.equal(code, 0, err);
  t.match(out, /symbol: string/);
  t.match(out, /price: string/);
});

t.test(
  'where a gateway hides words that mean something to the compiler, nothing is run, read or asked for',
  async (t) => {
    const secret = join(t.testdir({ 'secret.json': '{"const":"a secret of this machine"}' }), 'secret.json');
    const asked: string[] = [];
    const run = 'string]}\nthrow new Error("run");\ninterface Closed {open: [string';
    const documents = new Map<string, object>();
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.end(JSON.stringify(documents.get(url) ?? {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const properties = {
      list: { type: 'array', items: [{ tsType: run }] },
      bare: [{ tsType: run }],
      constant: { const: { $ref: secret } },
      choice: { enum: ['one', { $ref: `${url}/inside` }] },
      kind: { type: { $ref: secret } },
      $ref: secret,
    };
    documents.set(
      '/openapi.json',
      document({ '/x': operation({ type: 'object', required: [{ $ref: secret }], properties }, { type: 'object' }) }),
    );
    const { code, out, err } = await writeClient('--url', url);
    t.equal(code, 0, err);
    const source = typescript.createSourceFile('gateway.ts', out, typescript.ScriptTarget.Latest, true);
    t.same(
      source.statements.filter(typescript.isThrowStatement).map((statement) => statement.getText()),
      [],
      'nothing is run',
    );
    t.notMatch(out, 'throw', 'nor written');
    t.notMatch(out, 'a secret of this machine');
    t.same(asked, ['/openapi.json']);
  },
);

t.test('the other document is asked for where the gateway is, whatever it says of its address', async (t) => {
  const listen = async (port: number, answer: (url: string) => object) => {
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.end(JSON.stringify(answer(url)));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => void server.close().closeAllConnections());
    return asked;
  };
  const sold = document({ '/x': operation({ type: 'object' }, { type: 'object' }) });
  // What follows an origin without a slash goes on with its port.
  const openPair = async (port: number): Promise<readonly [port: number, asked: string[], besides: string[]]> => {
    try {
      const besides = await listen(port * 10 + 1, () => sold);
      return [port, await listen(port, () => ({ ...sold, externalDocs: { url: 'x:1/openapi.json' } })), besides];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return openPair(port + 1);
    }
  };
  const [port, asked, besides] = await openPair(3300);
  const { paths } = await read(['--url', `http://127.0.0.1:${port}`]);
  t.same(besides, [], 'nobody else is asked');
  t.same(asked, ['/openapi.json']);
  t.same(
    paths.map(({ path }) => path),
    ['/x'],
  );
});

t.test('what is no gateway is told, and nothing is written', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const url = await serve(t, {
    '/openapi.json': '<html>',
    '/other/openapi.json': {},
  });
  const petstore = await serve(t, { '/openapi.json': { openapi: '3.0.0', info: { title: 'Pets' }, paths: {} } });
  const catalogue = catalogueOf(t, ['image', 'llm/multi-model']);
  const out = join(catalogue, '..', 'gateway.ts');
  const ran = await writeClient('--url', nobody, '--out', out);
  t.match(ran, { code: 1, out: '', err: /cannot be reached \(.*ECONNREFUSED.*--url, or its catalogue/ });
  t.equal(ran.err.trim().includes('    at '), false, 'without a stack');
  t.notOk(existsSync(out));
  for (const [words, message] of [
    [['--url', url], /is not an OpenAPI document/],
    [['--url', petstore], /is an OpenAPI document of something else/],
    [['--url', 'shop.example'], /^--url is an origin such as https:\/\/shop\.example: got shop\.example/],
    [['--catalogue', 'no-such-directory'], /no-such-directory/],
    [
      ['--catalogue', catalogue, '--only', 'moon'],
      /^--only: nothing is sold below \/moon; paths begin with chain-c-main, chain-e, chain-f, image, llm, mpp$/,
    ],
  ] as const) {
    const refusal: unknown = await read(words).catch((error: unknown) => error);
    t.ok(isPrinted(refusal), 'it is printed without a stack');
    t.match(refusal, { message });
  }
  const unwritable = await writeClient('--catalogue', catalogue, '--out', join(out, 'below', 'gateway.ts'));
  t.match(unwritable, { code: 1, err: /^--out .*cannot be written: / });
});

t.test('of a document without an end no more is read than any gateway has', async (t) => {
  const mebibyte = Buffer.alloc(1024 * 1024, ' ');
  let sent = 0;
  const server = createServer((_request, response) => {
    const more = () => {
      while (!response.destroyed) {
        sent += 1;
        if (!response.write(mebibyte)) return void response.once('drain', more);
      }
    };
    more();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const reading = read(['--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
  await t.rejects(reading, { message: /is not an OpenAPI document/ });
  t.ok(sent < 100, `${sent} MiB`);
});

t.test('fields with a default may be left out of a request, and the others not', async (t) => {
  const out = join(t.testdir({}), 'gateway.ts');
  const { code, err } = await writeClient('--only', 'image/family-e-2,stock/arb', '--out', out);
  t.equal(code, 0, err);
  t.match(err, /2 paths of http:\/\/127\.0\.0\.1:4020/);
  const text = readFileSync(out, 'utf8');
  t.match(
    text,
    /export interface ImageFamilyE2Request \{[\s\S]*?\n {2}prompt: string;[\s\S]*?\n {2}resolution\?: '1k' \| '2k' \| '4k';/,
  );
  t.match(text, /get: \["\/stock\/arb"\]/);
  t.match(text, "'/stock/arb': { request: StockArbRequest; result: StockArbResult };");
});
