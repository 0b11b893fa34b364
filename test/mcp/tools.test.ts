/** What is listed, how it is found, what it costs and what was bought: everything that costs nothing. */
import { createSIWxPayload, type SIWxExtension } from '@x402/extensions/sign-in-with-x';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { priceInWords } from '../../src/discovery/payment-info.ts';
import { isJsonObject } from '../../src/json.ts';
import { toDecimal } from '../../src/money.ts';
import { startGateway } from '../gateway.ts';
import { openCatalogue } from '../upstream/served-routes.ts';
import { answerIn, callTool, payTool, receiptIn, rpc } from './tool-client.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c', 'chain-e'], tempo: true });
t.teardown(gateway.stop);
const { routes } = openCatalogue();

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
  readonly annotations: { readonly readOnlyHint: boolean };
  readonly _meta?: Record<string, unknown>;
}

const page = async (query: string, cursor?: string) => {
  const { result, status } = await rpc(gateway, 'tools/list', cursor === undefined ? {} : { cursor }, { query });
  return { status, tools: (result?.tools ?? []) as Listed[], nextCursor: result?.nextCursor as string | undefined };
};
const names = async (query: string) => (await page(query)).tools.map(({ name }) => name);

const HELP = ['search_endpoints', 'describe_endpoint', 'call_endpoint', 'quote', 'purchases'];

t.test('every endpoint is one tool, in an order that stays, with its price in words and in figures', async (t) => {
  const { tools, nextCursor } = await page('');
  t.equal(nextCursor, undefined);
  t.same(
    tools.slice(0, HELP.length).map(({ name }) => name),
    HELP,
  );
  const sold = tools.slice(HELP.length);
  const bases = routes.filter(({ kind }) => kind === 'base');
  t.same(
    sold.map(({ _meta }) => _meta?.['turnpike/path']),
    bases.map(({ path }) => path),
  );
  t.equal(new Set(tools.map(({ name }) => name)).size, tools.length);
  for (const { name } of tools) t.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  for (const [index, tool] of sold.entries()) {
    const base = bases[index];
    if (!base) throw new Error('more tools than endpoints');
    t.ok(tool.description.includes(`Price of a call: ${priceInWords(base)}, paid with x402`), tool.name);
    t.has(tool._meta?.['turnpike/price'], {
      minimum: toDecimal(base.price.min),
      listed: toDecimal(base.listing.price),
    });
    t.equal(tool.title, base.endpoint.summary);
    t.equal(tool.annotations.readOnlyHint, false, 'no client runs it without asking');
  }
  t.same(
    await names(''),
    tools.map(({ name }) => name),
  );
});

t.test('a tool tells what each way to pay asks, and no call costs more than it says', async (t) => {
  const { tools } = await page('');
  const sold = tools.filter(({ _meta }) => _meta?.['turnpike/price']);
  for (const { name, description, _meta } of sold) {
    const { maximum } = (_meta?.['turnpike/price'] ?? {}) as { maximum?: string };
    const route = routes.find(({ path }) => path === _meta?.['turnpike/path']);
    const quoted = answerIn(await callTool(gateway, 'quote', { name, arguments: route?.example ?? {} }));
    const asked = (quoted.offers as { rail: string; price: string }[]).filter(({ rail }) => rail === 'mpp');
    for (const { price } of asked) {
      t.ok(Number(price) <= Number(maximum), `${name}: ${price} is no more than ${maximum}`);
      if (price !== quoted.price) t.match(description, `; ${price} USD, paid with mpp.`, name);
    }
  }
  t.match(
    sold.find(({ name }) => name === 'image_designer')?.description,
    '0.06 USD, paid with x402; 0.08 USD, paid with mpp.',
  );
});

t.test('only what can be paid is listed and found, as in the documents', async (t) => {
  const other = await startGateway({ networks: ['chain-c'] });
  t.teardown(other.stop);
  const read = async (path: string) => (await fetch(other.url + path)).json();
  const { resources } = (await read('/x402-resources')) as { resources: { slug: string }[] };
  const overX402 = new Set(resources.map(({ slug }) => `/${slug}`));
  const { paths: overMpp } = (await read('/openapi.json')) as { paths: object };
  const payable = routes.filter(
    ({ kind, path }) => kind === 'base' && (overX402.has(path) || `/mpp${path}` in overMpp),
  );

  const { result } = await rpc(other, 'tools/list');
  const sold = ((result?.tools ?? []) as Listed[]).filter(({ _meta }) => _meta);
  t.same(
    sold.map(({ _meta }) => _meta?.['turnpike/path']),
    payable.map(({ path }) => path),
  );
  for (const { description, _meta } of sold) {
    const path = String(_meta?.['turnpike/path']);
    t.equal(/paid with x402/.test(description), overX402.has(path), path);
  }

  const search = async (input: object) => answerIn(await callTool(other, 'search_endpoints', input));
  t.equal((await search({})).total, payable.length);
  t.match(await search({ network: 'chain-a' }), {
    error: { code: 'invalid_request', details: [{ path: '/network', expected: 'one of chain-c' }] },
  });
  t.match((await callTool(other, 'describe_endpoint', { name: 'ai_x-news' })).structuredContent, {
    error: { code: 'unknown_path' },
  });
});

t.test('a client chooses what is listed: the search alone, groups, and mirrors by network', async (t) => {
  t.same(await names('?tools=search'), HELP.slice(0, 3));
  const groups = (await page('?tools=image,token')).tools;
  t.same(new Set(groups.map(({ _meta }) => _meta?.['turnpike/group'])), new Set([undefined, 'image', 'token']));
  t.same(
    groups.slice(0, 2).map(({ name }) => name),
    ['quote', 'purchases'],
  );

  const onNetwork = (await page('?networks=chain-e')).tools.filter(({ _meta }) => _meta);
  const expected = routes.filter(({ rail, networks }) => rail === 'x402' && networks.includes('chain-e'));
  t.same(
    onNetwork.map(({ _meta }) => _meta?.['turnpike/path']),
    expected.map(({ path }) => path),
  );
  t.ok(onNetwork.some(({ name }) => name.startsWith('chain-e_')));

  const unknown = await rpc(gateway, 'tools/list', {}, { query: '?tools=imag' });
  t.equal(unknown.status, 400);
  t.match(unknown.error?.message, /tools=imag is not known here: take search, .*image/);
});

t.test('a long list comes in pages', async (t) => {
  const query = '?networks=chain-a,chain-c,chain-e';
  const first = await page(query);
  t.equal(first.tools.length, 100);
  const second = await page(query, first.nextCursor);
  t.equal(second.nextCursor, undefined);
  const expected = routes.filter(({ rail, networks }) => rail === 'x402' && networks.some((id) => query.includes(id)));
  const all = [...first.tools, ...second.tools].filter(({ _meta }) => _meta);
  t.same(
    all.map(({ _meta }) => _meta?.['turnpike/path']),
    expected.map(({ path }) => path),
  );
  const { error } = await rpc(gateway, 'tools/list', { cursor: 'next' });
  t.match(error, { code: -32602, message: /cursor/ });
});

t.test('the list is the same in whichever form it is asked for', async (t) => {
  for (const query of ['', '?tools=search', '?networks=chain-a,chain-c,chain-e']) {
    const plain = await rpc(gateway, 'tools/list', {}, { query });
    t.match(plain, { status: 200, id: 1, jsonrpc: '2.0' });
    t.same(await rpc(gateway, 'tools/list', {}, { query, outside: { params: undefined } }), plain, 'without params');
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    t.same(await rpc(gateway, 'tools/list', {}, { query, headers }), plain, 'of the package');
  }
  const { error } = await rpc(gateway, 'tools/list', ['first']);
  t.match(error, { code: /^-32/ });
});

t.test('the schema of a result takes what is answered, what is asked for a call, and what went wrong', async (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const challenge = (await callTool(gateway, 'image_family-e-2', { prompt: 'x' })).structuredContent;
  const problem = (await callTool(gateway, 'quote', {})).structuredContent;
  for (const { name, outputSchema, inputSchema, _meta } of (await page('')).tools) {
    const route = routes.find(({ path }) => path === _meta?.['turnpike/path']);
    if (!route || !outputSchema) continue;
    const takes = ajv.compile(outputSchema);
    const { resultExample } = route;
    t.ok(takes(Array.isArray(resultExample) ? { result: resultExample } : resultExample), `${name}: the answer`);
    t.ok(takes(challenge) && takes(problem), `${name}: a challenge and a problem`);
    t.notOk(takes({ unheard: 'of' }) && takes({}), `${name}: not just anything`);
    t.ok(ajv.compile(inputSchema)(route.example), `${name}: its example`);
  }
});

t.test('no tool has what models’ APIs refuse at the top of its schema, and describe_endpoint tells it', async (t) => {
  const refused = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'];
  const { tools } = await page('');
  for (const { name, inputSchema } of tools) {
    t.match(inputSchema, { type: 'object' }, name);
    t.same(
      Object.keys(inputSchema).filter((keyword) => refused.includes(keyword)),
      [],
      name,
    );
  }
  for (const { name, _meta } of tools) {
    const route = routes.find(({ path }) => path === _meta?.['turnpike/path']);
    if (!route) continue;
    const kept = Object.fromEntries(Object.entries(route.request).filter(([keyword]) => refused.includes(keyword)));
    if (Object.keys(kept).length === 0) continue;
    const { inputSchema } = answerIn(await callTool(gateway, 'describe_endpoint', { name }));
    t.has(inputSchema, kept, `${name} is described whole`);
  }
  const name = 'tokens-api_resolve';
  t.match(answerIn(await callTool(gateway, 'describe_endpoint', { name })).inputSchema, {
    oneOf: [{ required: ['mint'] }, { required: ['ref'] }],
  });
  const { structuredContent } = await callTool(gateway, name, {});
  t.match(structuredContent, { invalidParams: Array }, 'what does not fit is told before it is paid');
});

/** Each schema within one, with its keywords. */
function* schemasIn(schema: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(schema)) for (const each of schema) yield* schemasIn(each);
  if (!isJsonObject(schema)) return;
  yield schema;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') for (const field of Object.values(value as object)) yield* schemasIn(field);
    else if (!['default', 'enum', 'required'].includes(keyword)) yield* schemasIn(value);
  }
}

t.test('what a tool takes is listed in words that each model’s API takes, and described whole', async (t) => {
  const { tools } = await page('');
  const taken =
    'type title description default enum properties required additionalProperties items anyOf minimum maximum '
      .concat('minLength maxLength minItems maxItems pattern format')
      .split(' ');
  for (const { name, inputSchema } of tools) {
    for (const schema of schemasIn(inputSchema)) {
      const others = Object.keys(schema).filter((keyword) => !taken.includes(keyword));
      const { pattern = '^$', format = 'date-time', enum: values = [], type, maxLength = 0, maxItems = 0 } = schema;
      const where = `${name}: ${JSON.stringify(schema)}`;
      t.same(others, [], where);
      t.match(pattern, /^\^[^\\(|]*\$$/, where);
      t.equal(format, 'date-time', where);
      t.ok(
        (values as unknown[]).every((value) => typeof value === 'string'),
        where,
      );
      t.notOk(Array.isArray(type), where);
      t.ok(Number(maxLength) <= 500 && Number(maxItems) <= 500, where);
    }
  }
  const listed = tools.find(({ name }) => name === 'shop_lens');
  t.notOk(JSON.stringify(listed?.inputSchema).includes('x-country'));
  const described = answerIn(await callTool(gateway, 'describe_endpoint', { name: 'shop_lens' }));
  t.match(described.inputSchema, {
    if: Object,
    properties: { country: { 'x-country': true, pattern: '^[A-Za-z]{2}$' } },
  });
});

t.test('no schema of a tool has a format that JSON Schema does not know', async (t) => {
  const { tools } = await page('');
  const formats = JSON.stringify(tools).match(/"format":"[^"]*"/g) ?? [];
  t.same(
    [...new Set(formats)].sort(),
    ['date', 'date-time', 'uri'].map((format) => `"format":"${format}"`),
  );
});

t.test('endpoints are found by what is needed, described, and called by their names', async (t) => {
  const search = async (input: object) =>
    answerIn(await callTool(gateway, 'search_endpoints', input)) as { total: number; endpoints: { name: string }[] };
  const found = await search({ query: 'transcribe speech' });
  t.equal(found.endpoints[0]?.name, 'audio_speech-to-text');
  t.same((await search({ group: 'video', maxPrice: '0.000001' })).endpoints, []);
  t.equal((await search({ query: 'picture image', limit: 2 })).endpoints.length, 2);
  t.ok((await search({ network: 'chain-e' })).endpoints.length > 0);

  const described = answerIn(await callTool(gateway, 'describe_endpoint', { name: 'image_family-e-2' }));
  t.has(described, { name: 'image_family-e-2', rails: ['x402', 'mpp'], example: { prompt: 'a lighthouse in fog' } });

  const direct = await callTool(gateway, 'image_family-e-2', { prompt: 'x', resolution: '4k' });
  const through = await callTool(gateway, 'call_endpoint', {
    name: 'image_family-e-2',
    arguments: { prompt: 'x', resolution: '4k' },
  });
  const offers = ({ structuredContent }: typeof direct) => structuredContent?.accepts;
  t.same(offers(through), offers(direct));
  const bought = await payTool(gateway, 'chain-c', 'call_endpoint', {
    name: 'image_family-e-2',
    arguments: { prompt: 'through the search' },
  });
  t.match(receiptIn(bought), { success: true });
});

t.test('a quote is exact, names every fault and says how to pay, on every rail', async (t) => {
  const quote = async (input: object) =>
    answerIn(await callTool(gateway, 'quote', { name: 'image_family-e-2', arguments: input }));
  t.has(await quote({ prompt: 'x', resolution: '4k' }), { price: '0.15', currency: 'USD', isValid: true });
  const offers = (await quote({ prompt: 'x' })).offers as { rail: string; price: string; ways: object[] }[];
  t.same(
    offers.map(({ rail, price }) => [rail, price]),
    [
      ['x402', '0.06'],
      ['mpp', '0.06'],
    ],
  );
  for (const { ways } of offers) t.ok(ways.length > 1);
  const faulty = await quote({ resolution: '9k' });
  t.equal(faulty.isValid, false);
  t.same((faulty.invalidParams as { path: string }[]).map(({ path }) => path).sort(), ['/prompt', '/resolution']);
});

t.test('a name that a client wrote otherwise is answered with the name that is meant', async (t) => {
  for (const name of ['image_family_e_2', 'mcp__shop__image_family-e-2', '/image/family-e-2'])
    for (const tool of ['describe_endpoint', 'quote', 'call_endpoint'])
      t.match((await callTool(gateway, tool, { name })).structuredContent, {
        error: { code: 'unknown_path', message: `No tool is called ${name}: did you mean image_family-e-2? ` },
      });
});

t.test('own tools say what they take, and what is not there is said to be so', async (t) => {
  const problem = async (name: string, input: object) =>
    (await callTool(gateway, name, input)).structuredContent?.error;
  t.match(await problem('quote', { nome: 'x' }), {
    code: 'invalid_request',
    details: [{ path: '/name' }, { path: '/nome' }],
  });
  t.match(await problem('describe_endpoint', { name: 'nothing' }), {
    code: 'unknown_path',
    message: /search_endpoints/,
  });
  t.match(await problem('nothing', {}), { code: 'unknown_path', message: /search_endpoints/ });
  const priced = await problem('search_endpoints', { maxPrice: 'cheap' });
  t.match(priced, { code: 'invalid_request', details: [{ path: '/maxPrice', expected: /^Dollars: .*0\.05/ }] });
  t.notMatch(JSON.stringify(priced), 'format', 'in words that its caller knows');
  t.match(await problem('search_endpoints', { maxPrice: '1'.repeat(13) }), { code: 'invalid_request' });
  t.match(
    await problem('search_endpoints', { group: 'images' }),
    { code: 'invalid_request', details: [{ path: '/group', expected: /^one of .*\bimage\b/ }] },
    'nobody reads that no pictures are sold',
  );
  for (const name of ['nothing', 'quote'])
    t.match(await problem(name, {}), { requestId: /^[0-9a-f-]{36}$/ }, 'with what its log line is found by');
});

t.test('a wallet sees what it bought for its signature, and nothing without', async (t) => {
  const input = { prompt: 'bought over MCP' };
  const bought = receiptIn(await payTool(gateway, 'chain-c', 'image_family-e-2', input));
  const { extensions } = answerIn(await callTool(gateway, 'purchases', {})) as {
    extensions: { 'sign-in-with-x': SIWxExtension };
  };
  const { info, supportedChains } = extensions['sign-in-with-x'];
  const access = gateway.state.evm['chain-c'];
  const chain = supportedChains.find(({ chainId }) => chainId === access?.caip2);
  if (!access || !chain) throw new Error('the chain cannot be proved on');
  const proof = await createSIWxPayload({ ...info, ...chain }, privateKeyToAccount(access.privateKey), info.uri);
  const { purchases } = answerIn(await callTool(gateway, 'purchases', { proof, limit: 1 })) as { purchases: object[] };
  t.match(purchases, [
    { endpoint: 'image/family-e-2', amount: '0.06', transaction: bought?.transaction, state: 'settled' },
  ]);
  const forged = await callTool(gateway, 'purchases', { proof: { ...proof, address: `0x${'11'.repeat(20)}` } });
  t.match(forged.structuredContent, { error: { code: 'invalid_request', details: [{ path: '/proof/signature' }] } });
});

t.test('the documents are resources, and a prompt leads a model through a purchase', async (t) => {
  const { result } = await rpc(gateway, 'resources/list');
  const listed = result?.resources as { uri: string; mimeType: string }[];
  for (const { uri, mimeType } of listed) {
    const read = await rpc(gateway, 'resources/read', { uri });
    const [content] = (read.result?.contents ?? []) as { text: string; mimeType: string }[];
    const served = await fetch(uri);
    t.equal(content?.text, await served.text(), uri);
    t.equal(content?.mimeType, mimeType);
    t.equal(served.headers.get('content-type'), mimeType);
  }
  const paths = listed.map(({ uri }) => new URL(uri).pathname);
  for (const path of ['/llms.txt', '/x402-resources', '/openapi.json']) t.ok(paths.includes(path), path);
  t.match((await rpc(gateway, 'resources/read', { uri: 'file:///etc/passwd' })).error, { message: /passwd/ });

  const prompt = await rpc(gateway, 'prompts/get', { name: 'buy', arguments: { task: 'a picture', limit: '0.2' } });
  t.match(prompt.result?.messages, [
    { role: 'user', content: { type: 'text', text: /a picture[\s\S]*no more than 0\.2 USD/ } },
  ]);
  t.match((await rpc(gateway, 'prompts/get', { name: 'sell' })).error, { code: -32602 });
  for (const without of [{ name: 'buy' }, { name: 'buy', arguments: { limit: '0.2', task: '' } }]) {
    // A model that is told of no task would look for something to buy.
    t.match((await rpc(gateway, 'prompts/get', without)).error, { code: -32602, message: /task/ });
  }
});
