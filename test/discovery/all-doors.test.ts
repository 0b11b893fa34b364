/** `/openapi-all.json` describes what every door really answers. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../src/canonical-json.ts';
import type { AnyOperation, OpenApiDocument } from '../../src/discovery/openapi.ts';
import { payV2, request } from '../clients.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';

const catalogue = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
t.teardown(() => rmSync(catalogue, { recursive: true, force: true }));
cpSync('catalogue', catalogue, { recursive: true });
const serviceFile = join(catalogue, 'service.yaml');
writeFileSync(serviceFile, `${readFileSync(serviceFile, 'utf8')}refunds: { endpoint: true }\n`);

const gateway = await startGateway({ catalogue });
t.teardown(gateway.stop);

type AllDoors = OpenApiDocument<AnyOperation>;
const read = async (path: string): Promise<AllDoors> => (await fetch(gateway.url + path)).json() as Promise<AllDoors>;
const document = await read('/openapi-all.json');

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ ...document, $id: 'document' });

const pointer = (step: string) => step.replaceAll('~', '~0').replaceAll('/', '~1');

/** What speaks against an answer: a status, a type or a body that the document does not have for the operation. */
async function faultOf(answer: Response, path: string, method: 'get' | 'post'): Promise<string | undefined> {
  const described = document.paths[path]?.[method]?.responses[String(answer.status)];
  if (!described) return `${method} ${path} does not answer ${answer.status}`;
  const [, , , shared = ''] = '$ref' in described ? described.$ref.split('/') : [];
  const place = shared
    ? `/components/responses/${shared}`
    : `/paths/${pointer(path)}/${method}/responses/${answer.status}`;
  const type = answer.headers.get('content-type')?.replace(/;.*/, '') ?? '';
  const content = ('$ref' in described ? (document.components as Shared).responses[shared] : described)?.content;
  if (!(type in (content ?? {}))) return `${method} ${path} does not answer ${answer.status} in ${type}`;
  const { schema } = (content as Readonly<Record<string, { readonly schema: Described }>>)[type] ?? { schema: {} };
  const fits = ajv.compile({ $ref: `document#${place}/content/${pointer(type)}/schema` });
  const body: unknown = type.endsWith('json') ? await answer.json() : await answer.text();
  if (!fits(body)) return ajv.errorsText(fits.errors);
  const [untold] = undescribed(body, schema);
  return untold === undefined ? undefined : `nothing is said of ${untold}`;
}

interface Described {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: unknown;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
}

/** Members of a value that its schema says nothing of, as pointers. */
function undescribed(value: unknown, schema: Described, at = ''): string[] {
  if (schema.$ref !== undefined) {
    const steps = schema.$ref.slice(2).split('/');
    const named = steps.reduce<unknown>((within, step) => (within as Record<string, unknown>)[step], document);
    return undescribed(value, named as Described, at);
  }
  if (schema.anyOf) {
    const each = schema.anyOf.map((one) => undescribed(value, one, at));
    return each.sort((one, other) => one.length - other.length)[0] ?? [];
  }
  if (Array.isArray(value))
    return value.flatMap((one, place) => undescribed(one, schema.items ?? {}, `${at}/${place}`));
  if (typeof value !== 'object' || value === null || schema.additionalProperties !== undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = schema.properties?.[name];
    return known ? undescribed(member, known, `${at}/${name}`) : [`${at}/${name}`];
  });
}

interface Shared {
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const asked = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> => {
  const { url, init } = request(gateway, path, body);
  return fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...headers } });
};

t.test('every door answers as it is described', async (t) => {
  const sale = await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '5' }));
  const { api_key: key } = (await sale.json()) as { api_key: string };
  const bearer = { authorization: `Bearer ${key}` };
  const chat = { model: 'vendor5-k3', messages: [{ role: 'user', content: 'Why does fog scatter light?' }] };
  const refund = {
    x402Version: 2,
    paymentReference: { txHash: `0x${'1'.repeat(64)}`, network: 'eip155:84532' },
    amount: '1',
    idempotencyKey: 'once',
  };
  const payer = privateKeyToAccount(gateway.state.evm['chain-c']?.privateKey ?? '0x');
  const payerSignature = await payer.signMessage({ message: canonicalJson(refund) });
  const tools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const call = { ...tools, method: 'tools/call', params: { name: 'image_family-e', arguments: { prompt: 'fog' } } };
  const accept = { accept: 'application/json, text/event-stream' };
  const answers: [path: string, method: 'get' | 'post', status: number, answer: Promise<Response>][] = [
    ['/image/family-e', 'post', 402, asked('/image/family-e', { prompt: 'fog' })],
    ['/v1/credits', 'post', 402, asked('/v1/credits', { amount_usd: '5' })],
    ['/v1/credits', 'get', 401, asked('/v1/credits')],
    ['/v1/credits', 'get', 200, asked('/v1/credits', undefined, bearer)],
    ['/v1/models', 'get', 200, asked('/v1/models')],
    ['/v1/models/{name}', 'get', 200, asked('/v1/models/vendor5-k3')],
    ['/v1/models/{name}', 'get', 404, asked('/v1/models/none')],
    ['/v1/chat/completions', 'post', 401, asked('/v1/chat/completions', chat)],
    ['/v1/chat/completions', 'post', 400, asked('/v1/chat/completions', { ...chat, messages: [] }, bearer)],
    ['/v1/chat/completions', 'post', 200, asked('/v1/chat/completions', chat, bearer)],
    ['/v1/purchases', 'get', 402, asked('/v1/purchases')],
    ['/v1/purchases/{id}', 'get', 402, asked('/v1/purchases/one')],
    ['/v1/refunds', 'post', 400, asked('/v1/refunds', {})],
    ['/v1/refunds', 'post', 200, asked('/v1/refunds', { ...refund, payerSignature })],
    ['/mcp', 'post', 200, asked('/mcp', tools, accept)],
    ['/mcp', 'post', 200, asked('/mcp', tools)],
    ['/mcp', 'post', 200, asked('/mcp', { ...tools, method: 'ping' })],
    ['/mcp', 'post', 406, asked('/mcp', tools, { accept: 'application/json' })],
    ['/mcp', 'post', 415, asked('/mcp', tools, { ...accept, 'content-type': 'text/plain' })],
    ['/mcp', 'post', 200, asked('/mcp', call, accept)],
    ['/mcp', 'post', 400, asked('/mcp', [], accept)],
    ['/media/{name}', 'get', 404, asked('/media/none.png')],
    ['/healthz', 'get', 200, asked('/healthz')],
    ['/readyz', 'get', 200, asked('/readyz')],
  ];
  for (const [path, method, status, answering] of answers) {
    const answer = await answering;
    t.equal(answer.status, status, `${method} ${path}: ${status}`);
    t.equal(await faultOf(answer, path, method), undefined, `${method} ${path}: ${status}`);
  }
});

t.test('says what has to be shown at each door', async (t) => {
  const { securitySchemes } = document.components as { securitySchemes: object };
  t.match(securitySchemes, {
    x402: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' },
    mpp: { type: 'http', scheme: 'Payment' },
    apiKey: { type: 'http', scheme: 'bearer' },
    walletProof: { type: 'apiKey', in: 'header', name: 'SIGN-IN-WITH-X' },
  });
  const security = (path: string, method: 'get' | 'post') => document.paths[path]?.[method]?.security;
  t.same(security('/image/family-e', 'post'), [{ x402: [] }, {}]);
  t.same(security('/v1/credits', 'post'), [{ x402: [] }, {}]);
  t.same(security('/v1/credits', 'get'), [{ apiKey: [] }]);
  t.same(security('/healthz', 'get'), []);
});

t.test('has what the documents of the rails have, and they and /llms.txt name it', async (t) => {
  const url = `${gateway.url}/openapi-all.json`;
  for (const path of ['/openapi.json', '/openapi/x402.json']) {
    const rail = await read(path);
    t.match(rail['x-service-info'], { docs: { apiReference: url } });
    for (const [sold, item] of Object.entries(rail.paths)) {
      for (const [method, { operationId }] of Object.entries(item)) {
        t.equal(document.paths[sold]?.[method as 'get']?.operationId, operationId, `${method} ${sold}`);
      }
    }
  }
  t.match(await (await fetch(`${gateway.url}/llms.txt`)).text(), `- ${url}: `);
});

t.test('leaves out the door for refunds where it is closed', async (t) => {
  const closed = await startGateway();
  t.teardown(closed.stop);
  const { paths } = (await (await fetch(`${closed.url}/openapi-all.json`)).json()) as AllDoors;
  t.hasProp(paths, '/v1/purchases');
  t.notOk('/v1/refunds' in paths);
});

for (const { sold, model } of [
  { sold: 'llm/vendor1-opus-5', model: 'vendor1-opus-5' },
  { sold: 'image/family-e', model: undefined },
]) {
  t.test(
    `where ${sold} is sold, chat is described ${model === undefined ? 'nowhere' : 'with that model'}, and nobody is sent to buy credits`,
    async (t) => {
      const other = await startGateway({ catalogue: catalogueOf(t, [sold]), networks: ['chain-c'] });
      t.teardown(other.stop);
      const { paths } = (await (await fetch(`${other.url}/openapi-all.json`)).json()) as AllDoors;
      const { data } = (await (await fetch(`${other.url}/v1/models`)).json()) as { data: { id: string }[] };
      t.same(
        data.map(({ id }) => id),
        model === undefined ? [] : [model],
      );
      const body = paths['/v1/chat/completions']?.post?.requestBody?.content['application/json'];
      t.match(body?.example, model === undefined ? undefined : { model });
      const keyless = await fetch(`${other.url}/v1/chat/completions`, { method: 'POST' });
      t.notMatch(await keyless.text(), '/v1/credits');
    },
  );
}
