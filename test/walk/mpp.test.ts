import t from 'tap';
import { usd } from '../../src/money.ts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { sendProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { changed, type Fields, plainRequest } from './row.ts';
import { operations } from './rows/mpp.ts';
import { ask, callOf } from './wire.ts';

const gateway = await startGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);

const TAGS = ['Image Generation', 'Image Models', 'Video Generation', 'Token Tools', 'Audio', 'AI Services'];
const METHODS = ['tempo', 'chain-c'] as const;

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-payment-info': {
    readonly protocols: readonly string[];
    readonly pricingMode: string;
    readonly price?: string;
  };
}

interface Description {
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly 'x-discovery': { readonly ownershipProofs: readonly string[] };
}

const description = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Description;

const resolved = (parameter: Described['parameters'][number]): Parameter | undefined =>
  '$ref' in parameter
    ? description.components.parameters[parameter.$ref.replace('#/components/parameters/', '')]
    : parameter;

/** What the challenges of a 402 ask for. */
async function asked(path: string, method: string, body: Fields): Promise<string[]> {
  const { url, init } = callOf(gateway, method, path, body);
  const unpaid = await fetch(url, init);
  const header = unpaid.headers.get('www-authenticate') ?? '';
  const requests = [...header.matchAll(/request="([^"]+)"/g)].map(([, request = '']) => request);
  return requests.map((request) => JSON.parse(Buffer.from(request, 'base64url').toString()).amount);
}

t.test(
  'the description is OpenAPI 3.1.0 in version 1.0.0, with the six tags and the ten operations by either method',
  async (t) => {
    t.equal(description.openapi, '3.1.0');
    t.equal(description.info.version, '1.0.0');
    t.same(
      description.tags.map(({ name }) => name),
      TAGS,
    );
    t.ok(Array.isArray(description['x-discovery'].ownershipProofs));
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    t.same(described.sort(), operations.flatMap(({ path }) => [`GET ${path}`, `POST ${path}`]).sort());
  },
);

for (const [turn, operation] of operations.entries()) {
  const { path, method, operationId, prices, fields, pricingMode } = operation;
  const plain = plainRequest(fields);

  t.test(`${operationId} is described as it is sold`, async (t) => {
    const described = description.paths[path]?.[method.toLowerCase()];
    t.equal(described?.operationId, operationId);
    t.ok(TAGS.includes(described?.tags[0] ?? ''), 'has one of the tags');
    const statuses = Object.keys(described?.responses ?? {});
    for (const status of ['200', '400', '402', '500']) t.ok(statuses.includes(status), status);
    t.match(described?.parameters.map(resolved), [{ name: 'Authorization', in: 'header', required: false }]);
    t.match(described?.['x-payment-info'], { protocols: ['mpp'], pricingMode });
    if (pricingMode === 'fixed') t.equal(Number(described?.['x-payment-info'].price), Number(prices[0]?.price));
    const schema = described?.requestBody?.content['application/json'].schema;
    t.same(Object.keys(schema?.properties ?? {}).sort(), Object.keys(fields).sort(), 'has the fields');
    t.same(schema?.required ?? [], Object.keys(plain), 'requires the required ones');
    for (const [name, field] of Object.entries(fields)) {
      if (field.default !== undefined) t.same(schema?.properties?.[name]?.default, field.default, name);
    }
  });

  t.test(
    `${operationId} asks for ${prices.map(({ price }) => price).join(', ')} and refuses what it does not take`,
    async (t) => {
      for (const { request, price } of prices) {
        t.same(
          await asked(path, method, changed(plain, request)),
          METHODS.map(() => String(usd(price))),
        );
      }
      const send = (change: Fields) => ask(callOf(gateway, method, path, changed(plain, change)));
      for (const [name, field] of Object.entries(fields)) {
        for (const value of field.accepts) t.same((await send({ [name]: value })).invalidParams, [], name);
        for (const value of field.refuses) {
          t.match(
            (await send({ [name]: value })).invalidParams,
            [{ path: new RegExp(`^/${name}`) }],
            `${name}: ${value}`,
          );
        }
        if (field.required) t.match((await send({ [name]: undefined })).invalidParams, [{ path: `/${name}` }], name);
      }
      t.match((await send({ no_such_field: 'x' })).invalidParams, [{ path: '/no_such_field' }]);
    },
  );

  t.test(`${operationId} answers the documented result and a receipt for exactly its price`, async (t) => {
    const [first] = prices;
    const network = METHODS[turn % METHODS.length] ?? 'tempo';
    const call = callOf(gateway, method, path, changed(plain, first?.request ?? {}));
    const credential = await openMppPayer(gateway.state, network).sign(await fetch(call.url, call.init));
    const earned = await gateway.earned(network);
    const answer = await sendProof(call, credential);
    const body = await answer.text();
    t.equal(answer.status, 200, body.slice(0, 300));
    t.match(answer.headers.get('payment-receipt'), /.+/);
    t.equal((await gateway.earned(network)) - earned, usd(first?.price ?? '0'));
    t.same(operation.result(JSON.parse(body), ''), []);
  });
}
