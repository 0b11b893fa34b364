import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadCatalogue } from '../../../src/catalogue/load.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { asJsonObject } from '../../../src/json.ts';
import { openUpstreams } from '../../../src/upstream/bindings.ts';
import { openCallContext } from '../../upstream/call-context.ts';
import { openServed } from '../../upstream/served-routes.ts';
import { checked, documentOf, imported, importedText, jsonBody } from './imported.ts';

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly trace: unknown;
  readonly body: unknown;
}

/** A provider that answers what it was asked, and keeps the headers that it was sent. */
async function startProvider(t: Test): Promise<{ url: string; heard: IncomingHttpHeaders[] }> {
  const heard: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const { method, url, headers } = request;
    const body: unknown = text === '' ? null : JSON.parse(text);
    const asked: Asked = { method, url, trace: headers['x-trace'], body };
    heard.push(headers);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, heard };
}

t.test('the provider is asked as its document says', async (t) => {
  const { url, heard } = await startProvider(t);
  const operation = {
    operationId: 'updateThing',
    parameters: [
      { in: 'path', name: 'thing-id', required: true, schema: { type: 'string' } },
      { in: 'query', name: 'filter[size]', schema: { type: 'integer' } },
      { in: 'query', name: 'tags', explode: false, schema: { type: 'array', items: { type: 'string' } } },
      { in: 'query', name: 'kinds', schema: { type: 'array', items: { type: 'string' } } },
      { in: 'header', name: 'X-Trace', schema: { type: 'string' } },
    ],
    ...jsonBody({
      type: 'object',
      required: ['name', 'from'],
      properties: { name: { type: 'string' }, from: { type: 'object', properties: { value: { type: 'string' } } } },
    }),
    responses: { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } },
  };
  const text = documentOf(
    {},
    {
      servers: [{ url }],
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
      paths: { '/things/{thing-id}': { patch: operation } },
    },
  );
  const { catalogue: directory } = await importedText(t, text, { upstream: 'things' });
  const catalogue = loadCatalogue(directory, shipped, checked);
  const upstreams = openUpstreams({ catalogue, ...shipped, secretOf: (variable) => `value of ${variable}` });
  t.teardown(() => upstreams.close());
  const [route] = catalogue.routes;
  if (!route) return t.fail('nothing is sold');
  const input = {
    thing_id: 'a b',
    filter_size: 3,
    tags: ['x', 'y'],
    kinds: ['k', 'l'],
    X_Trace: 'seen',
    name: 'chair',
    from: { value: 'oak' },
  };
  t.same(await upstreams.call(route, input, openCallContext(t)), {
    method: 'PATCH',
    url: '/v1/things/a%20b?filter%5Bsize%5D=3&tags=x%2Cy&kinds=k&kinds=l',
    trace: 'seen',
    body: { name: 'chair', from: { value: 'oak' } },
  });
  t.same(
    heard.map((headers) => headers['x-key']),
    ['value of THINGS_API_KEY'],
  );
});

t.test('what a caller clears of a thing is cleared: null and an empty list are sent', async (t) => {
  const { url } = await startProvider(t);
  const texts = { type: 'array', items: { type: 'string' } };
  const properties = { due: { type: ['string', 'null'] }, labels: texts, watchers: texts, name: { type: 'string' } };
  const operation = {
    operationId: 'updateThing',
    parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
    ...jsonBody({ type: 'object', properties }),
    responses: { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } },
  };
  const text = documentOf({}, { servers: [{ url }], paths: { '/things/{id}': { patch: operation } } });
  const { catalogue: directory } = await importedText(t, text);
  const catalogue = loadCatalogue(directory, shipped, checked);
  const upstreams = openUpstreams({ catalogue, ...shipped, secretOf: () => undefined });
  t.teardown(() => upstreams.close());
  const [route] = catalogue.routes;
  if (!route) return t.fail('nothing is sold');
  const cleared = { due: null, labels: [], watchers: ['ada'] };
  const bodyOf = async (input: object) =>
    asJsonObject(await upstreams.call(route, { id: '7', ...input }, openCallContext(t))).body;
  t.same(await bodyOf(cleared), cleared);
  t.same(await bodyOf({}), {}, 'what is left out is not sent');
});

t.test('the provider is told of the kinds of JSON that its document names', async (t) => {
  const { url, heard } = await startProvider(t);
  const schema = { type: 'object', properties: { op: { type: 'string' } } };
  const answers = (...types: string[]) => ({
    responses: { 200: { description: 'Fine', content: Object.fromEntries(types.map((type) => [type, { schema }])) } },
  });
  const paths = {
    '/plain': { post: { operationId: 'a-plain', ...jsonBody(schema), ...answers('application/json') } },
    '/one-of-two': { get: { operationId: 'b-one-of-two', ...answers('application/xml', 'application/json') } },
    '/own': {
      patch: {
        operationId: 'c-own',
        requestBody: { content: { 'application/merge-patch+json': { schema } } },
        ...answers('application/vnd.things+json; version=3'),
      },
    },
  };
  const { catalogue: directory } = await importedText(t, documentOf({}, { servers: [{ url }], paths }));
  const catalogue = loadCatalogue(directory, shipped, checked);
  const upstreams = openUpstreams({ catalogue, ...shipped, secretOf: () => undefined });
  t.teardown(() => upstreams.close());
  for (const route of catalogue.routes) await upstreams.call(route, { op: 'add' }, openCallContext(t));
  t.same(
    heard.map(({ accept, 'content-type': type }) => ({ accept, type })),
    [
      { accept: undefined, type: 'application/json' },
      { accept: 'application/json', type: undefined },
      { accept: 'application/vnd.things+json; version=3', type: 'application/merge-patch+json' },
    ],
  );
});

for (const file of ['blockfrost.yaml', 'figma.yaml', 'netlify.json']) {
  t.test(`in the sandbox, everything of ${file} answers its own example`, async (t) => {
    const { catalogue: directory } = await imported(t, join('test/cli/import/documents', file));
    const { catalogue, ask } = await openServed(t, { catalogue: loadCatalogue(directory, shipped, checked) });
    for (const { path, example } of catalogue.routes) await t.resolves(ask(path, example), path);
  });
}
