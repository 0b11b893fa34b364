import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { validate } from 'mppx/discovery';
import t from 'tap';
import type { OpenApiDocument, SharedParts } from '../../src/discovery/openapi.ts';
import { SETTLES_UPFRONT } from '../../src/discovery/payment-info.ts';
import { problems } from '../../src/errors.ts';
import { problemAnswer } from '../../src/http/render.ts';
import { paymentProblem } from '../../src/payment/payment-problem.ts';
import { loadSound } from '../load-catalogue.ts';
import { documentsOf, endpoint, networks, payTo, publicUrl, read, routesOf, tempo } from './samples.ts';

const mpp = read<OpenApiDocument>(documentsOf(), '/openapi.json');
const x402 = read<OpenApiDocument>(documentsOf(), '/openapi/x402.json');
const documents = { mpp, x402 };

const operationsOf = (document: OpenApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every value under `schema` in a document, and every shared schema. */
function schemasIn(node: unknown): AnySchemaObject[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'schema') return [value as AnySchemaObject];
    if (key === 'schemas') return Object.values(value as Record<string, AnySchemaObject>);
    return schemasIn(value);
  });
}

function newAjv(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'document' });
  return (pointer: string) => ajv.compile({ $ref: `document#${pointer}` });
}

const pointer = (path: string) => path.replaceAll('~', '~0').replaceAll('/', '~1');

for (const [name, document] of Object.entries(documents)) {
  t.test(`the ${name} document`, async (t) => {
    t.test('is without fault in the eyes of an independent validator', async (t) => {
      t.same(validate(document), []);
    });

    t.test('has schemas that are JSON Schema 2020-12 and refer to nothing but shared ones', async (t) => {
      const ajv = new Ajv2020({ strict: false });
      for (const schema of schemasIn(document)) t.ok(ajv.validateSchema(schema), JSON.stringify(schema).slice(0, 80));
      const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference);
      t.ok(references.length > 0);
      for (const reference of new Set(references)) {
        const [, kind = '', ...steps] = (reference ?? '').split('/');
        // orval 7.13.2 writes types that do not compile for an answer that stands elsewhere, and openapi-zod-client 1.18.3 ends.
        t.equal(kind, 'components', `${reference}`);
        const named = steps.reduce<unknown>(
          (node, step) => (node as Record<string, unknown>)[step],
          document.components,
        );
        t.type(named, 'object', `${reference} is there`);
      }
    });

    t.test('has examples that fit their schemas', async (t) => {
      const compile = newAjv(document);
      for (const { path, method, operation } of operationsOf(document)) {
        const at = `/paths/${pointer(path)}/${method}`;
        const result = operation.responses[200];
        const { schema, example } = (result && 'content' in result && result.content?.['application/json']) || {};
        const fits = compile(`${at}/responses/200/content/application~1json/schema`);
        const other = Object.values(document.paths[path] ?? {}).find(({ responses }) => responses[200] !== result);
        if (example !== undefined) t.ok(fits(example), `${path}: the result`);
        else
          t.match(
            other?.responses[200],
            { content: { 'application/json': { schema, example: {} } } },
            'as by the other method',
          );
        if (!operation.requestBody) continue;
        const body = operation.requestBody.content['application/json'];
        const request = compile(`${at}/requestBody/content/application~1json/schema`);
        t.ok(request(body?.example), `${path}: the request`);
      }
    });

    t.test('documents every operation with every status that is answered and no security scheme', async (t) => {
      for (const { path, method, operation } of operationsOf(document)) {
        const statuses = Object.values(problems).map(({ status }) => status);
        // Only paths at which nothing is sold answer 404, and only a body can be of another type.
        const never = method === 'get' ? [404, 415] : [404];
        const answered = new Set([200, 402, 410, ...statuses.filter((status) => !never.includes(status))]);
        t.same(new Set(Object.keys(operation.responses).map(Number)), answered, path);
        t.same(operation.security, [], path);
      }
      const ids = operationsOf(document).map(({ operation }) => operation.operationId);
      t.equal(new Set(ids).size, ids.length);
    });

    t.test('describes the errors that are really sent', async (t) => {
      const compile = newAjv(document);
      const isError = compile('/components/schemas/Error');
      t.ok(isError(JSON.parse(String(problemAnswer(new Error('secret'), 'request-1').body))));
      t.notOk(isError({ error: { code: 'no_such_code', message: '', requestId: '' } }));
    });

    t.test('says who it belongs to', async (t) => {
      t.match(document.info, { title: 'Corner shop', version: '1.0.0', contact: { email: 'shop@example.com' } });
      t.same(document['x-discovery'], { ownershipProofs: ['0xsigned'] });
      t.same(document.servers, [{ url: publicUrl }]);
    });
  });
}

t.test('the MPP document has the MPP operations under their own ids and all the tags of the service', async (t) => {
  t.same(
    operationsOf(mpp).map(({ path, method, operation }) => [method, path, operation.operationId, operation.tags]),
    [
      ['post', '/mpp/image/oil', 'mpp_image_oil', ['Pictures']],
      ['get', '/mpp/image/oil', 'mpp_image_oil_get', ['Pictures']],
      ['post', '/mpp/image/sized', 'mpp_image_sized', ['Pictures']],
      ['get', '/mpp/image/sized', 'mpp_image_sized_get', ['Pictures']],
      ['get', '/mpp/token/trend', 'mpp_trend', ['Prices']],
      ['post', '/mpp/token/trend', 'mpp_trend_post', ['Prices']],
    ],
  );
  t.same(mpp.tags, [
    { name: 'Pictures', description: '2 sold, 0.05 to 0.15 USD a call' },
    { name: 'Prices', description: '1 sold, 0.1 USD a call' },
  ]);
});

t.test('an MPP operation takes an optional Authorization and answers with challenges and receipts', async (t) => {
  const { parameters, responses } = mpp.paths['/mpp/image/oil']?.post ?? {};
  const shared = mpp.components as SharedParts;
  t.same(parameters, [{ $ref: '#/components/parameters/Authorization' }]);
  t.match(shared.parameters.Authorization, { name: 'Authorization', in: 'header', required: false });
  t.match(responses?.[200], { headers: { 'Payment-Receipt': {} } });
  t.same(responses?.[402], { $ref: '#/components/responses/PaymentRequired' });
  t.match(shared.responses.PaymentRequired, {
    headers: { 'WWW-Authenticate': {} },
    content: { 'application/problem+json': { schema: { $ref: /PaymentRequired$/ } } },
  });
  const isChallenge = newAjv(mpp)('/components/schemas/PaymentRequired');
  t.ok(isChallenge(paymentProblem('challenge-1', '0.05', undefined)));
});

t.test('a fixed price is said, a price that depends on the request is a quote between bounds', async (t) => {
  t.same(mpp.paths['/mpp/image/oil']?.post?.['x-payment-info'], {
    protocols: ['mpp'],
    pricingMode: 'fixed',
    price: '0.05',
    offers: [
      {
        intent: 'charge',
        method: 'tempo',
        amount: '50000',
        currency: tempo,
        paymentFlow: 'upfront',
        description: SETTLES_UPFRONT,
      },
    ],
  });
  t.match(mpp.paths['/mpp/image/sized']?.post?.['x-payment-info'], {
    protocols: ['mpp'],
    pricingMode: 'quote',
    minPrice: '0.06',
    maxPrice: '0.15',
    offers: [{ method: 'tempo', amount: null, currency: tempo }],
  });
});

t.test(
  'generators of clients find an object in place of every schema, and a type beside every rule for a text',
  async (t) => {
    const { service, networks, routes } = loadSound();
    const document = read<OpenApiDocument>(documentsOf({ service, networks, routes }), '/openapi/x402.json');
    const found: string[] = [];
    function walk(node: unknown, at: string): void {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'example' || key === 'x-payment-info') continue;
        // orval 7.13.2 stops at these.
        if (key === 'properties' && Object.values(value).some((schema) => typeof schema === 'boolean')) found.push(at);
        // openapi-typescript-codegen 0.31.0 writes no type at all for these.
        if (key === 'pattern' && typeof value === 'string' && !('type' in node)) found.push(at);
        walk(value, `${at}/${key}`);
      }
    }
    walk(document.paths, '');
    t.same(found, []);
  },
);

t.test('a folder may have any name that indexes take: what is named after it has one that OpenAPI takes', async (t) => {
  const result = {
    type: 'object',
    properties: {
      url: { type: 'string', description: `Where the picture is: ${'as long as it is kept, '.repeat(8)}` },
    },
  };
  for (const group of ['market data', 'r&d #1', '50% ~off']) {
    const sold = endpoint(
      `${group}/oil`,
      { path: '/oil', result },
      {
        path: '/mpp/oil',
        kind: 'operation',
        rail: 'mpp',
        methods: ['GET', 'POST'],
        networks: [],
        result,
        operation: { operationId: 'mpp_oil', tag: 'Pictures' },
      },
    );
    const document = read<OpenApiDocument>(documentsOf({ routes: routesOf(sold) }), '/openapi.json');
    const { schemas } = document.components as { schemas: object };
    // OpenAPI 3.1.0, "Components Object".
    for (const name of Object.keys(schemas)) t.match(name, /^[a-zA-Z0-9._-]+$/, group);
    const compile = newAjv(document);
    for (const method of ['get', 'post']) {
      const fits = compile(`/paths/${pointer('/mpp/oil')}/${method}/responses/200/content/application~1json/schema`);
      t.equal(fits({ url: 1 }), false, `${group}: the result's schema is there`);
    }
  }
});

t.test('an MPP route that cannot be paid is not described', async (t) => {
  t.same(read<OpenApiDocument>(documentsOf({}, new Map()), '/openapi.json').paths, {});
});

t.test('every operation has an id of its own, also where paths differ in a dot alone', async (t) => {
  const models = [endpoint('llm/a-4.5', { path: '/llm/a-4.5' }), endpoint('llm/a-4-5', { path: '/llm/a-4-5' })];
  const document = read<OpenApiDocument>(documentsOf({ routes: routesOf(...models) }), '/openapi/x402.json');
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  t.equal(ids.length, 2);
  t.equal(new Set(ids).size, 2, ids.join(' '));
});

t.test('the x402 document offers every network in the words of its challenge', async (t) => {
  const { 'x-payment-info': info } = x402.paths['/image/oil']?.post ?? {};
  t.match(info, { protocols: ['x402'], pricingMode: 'fixed', price: '0.05' });
  t.same(
    info?.offers,
    ['sol', 'base'].map((id) => {
      const network = networks.get(id);
      if (!network) throw new Error(`no sample network ${id}`);
      return {
        intent: 'charge',
        method: 'x402',
        scheme: 'exact',
        amount: '50000',
        currency: network.live.asset.address,
        network: network.live.caip2,
        payTo: payTo(network),
      };
    }),
  );
  t.match(x402.paths['/image/sized']?.post?.['x-payment-info'], {
    pricingMode: 'range',
    minPrice: '0.06',
    maxPrice: '0.15',
    offers: [{ amount: '100000' }],
  });
});

t.test('an x402 operation takes its payment in either header, X-PAYMENT in both versions', async (t) => {
  for (const { operation } of operationsOf(x402)) {
    t.match(operation.parameters, [
      { name: 'PAYMENT-SIGNATURE', in: 'header', required: false, description: /version 2/ },
      { name: 'X-PAYMENT', in: 'header', required: false, description: /version 2 or 1/ },
    ]);
  }
});

t.test('a GET takes its fields in the query', async (t) => {
  const { parameters, requestBody } = x402.paths['/token/trend']?.get ?? {};
  t.equal(requestBody, undefined);
  t.same(
    parameters?.filter((each) => 'in' in each && each.in === 'query'),
    [
      {
        name: 'ticker',
        in: 'query',
        required: true,
        description: 'What to look up',
        schema: { type: 'string', description: 'What to look up' },
        example: 'ABC',
      },
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer', default: 5 } },
    ],
  );
});
