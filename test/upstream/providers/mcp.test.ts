import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import { mcp } from '../../../src/upstream/providers/mcp/adapter.ts';
import { type AdapterCase, adapterContract, openSetting, problemOf } from './contract.ts';

const base: AdapterCase = {
  adapter: mcp,
  upstream: { keys: { key: 'SECRET_key' }, settings: { authorize: { bearer: 'key' } } },
  options: { tool: 'search_docs', arguments: { query: 'question', limit: { value: 5 } }, result: '{answer: text}' },
  input: { question: 'How does it start?' },
  result: { type: 'object', required: ['answer'], properties: { answer: { type: 'string', minLength: 1 } } },
  refusal: 'invalid-input',
};

adapterContract(t, 'a text, made from the result schema', base);

adapterContract(t, 'structured content, and the answer of the example', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { header: 'x-api-key', value: '{key}' } } },
  options: {
    tool: 'search_docs',
    arguments: 'input',
    result: '{pages: length(found), first: found[0].title}',
    example: { found: [{ title: 'Start' }, { title: 'Stop' }] },
  },
  result: { const: { pages: 2, first: 'Start' } },
});

adapterContract(t, 'a key in the path', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { path: '/s/{key}/mcp' } } },
});

adapterContract(t, 'no key and no arguments, and the answer as it is', {
  ...base,
  upstream: {},
  options: { tool: 'status' },
  result: { type: 'object', required: ['up'], properties: { up: { type: 'boolean' } } },
});

for (const [kind, type] of [
  ['image', 'image/png'],
  ['audio', 'audio/mpeg'],
]) {
  adapterContract(t, `a block of ${kind} that is kept`, {
    ...base,
    options: { tool: 'make', arguments: 'input', result: { file: kind } },
    result: {
      type: 'object',
      required: [`${kind}_url`, 'type', 'bytes'],
      properties: {
        [`${kind}_url`]: { type: 'string', pattern: '/media/' },
        type: { const: type },
        bytes: { type: 'integer', minimum: 100 },
      },
    },
  });
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  /** `ID` is the id of the request. */
  readonly body: string;
}

const greeting: Answer = {
  body: '{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}',
};
const unknown: Answer = { status: 400, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"who?"}}' };

/** Calls a tool of a server that speaks an older revision: what it answers to the call, and to one that resumes it. */
async function callOf(t: Test, answer: Answer, resumed: Answer = { status: 405, body: '' }): Promise<unknown> {
  const call = await callerOf(t, (method) => (method === 'tools/call' ? answer : resumed));
  return await call();
}

/** Calls a tool as often as is asked: what its server answers, and to what is no message; nothing: no end of it. */
async function callerOf(t: Test, answerTo: (method: string) => Answer | undefined, concurrency?: number) {
  let lastId = '';
  const server = createServer(async (request, response) => {
    const message = request.method === 'POST' ? ((await json(request)) as { id?: unknown; method: string }) : undefined;
    if (message) lastId = JSON.stringify(message.id);
    const answers: Record<string, Answer> = {
      initialize: greeting,
      'notifications/initialized': { status: 202, body: '' },
      'server/discover': unknown,
    };
    const method = message?.method ?? `${request.method}`;
    const answer = answers[method] ?? answerTo(method);
    if (!answer) return;
    const { status = 200, type = 'application/json', body } = answer;
    response.writeHead(status, { 'content-type': type, 'mcp-session-id': 'a' }).end(body.replace('ID', lastId));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const { binding, context } = await openSetting(t, base);
  const upstream = { name: 'tools', adapter: 'mcp', baseUrl, ...(concurrency && { concurrency }) };
  const http = openUpstreamHttp({ upstream, adapter: {}, baseUrl, secrets: {} });
  t.teardown(async () => {
    await http.close();
    server.close().closeAllConnections();
  });
  return (signal = context.signal) =>
    mcp.call(base.input, { ...binding, options: { tool: 'search_docs' }, http }, { ...context, signal });
}

const stream = 'text/event-stream';
const done = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}';

t.test('a server of an older revision is greeted, and its answers are read in each form', async (t) => {
  t.same(await callOf(t, { body: done }), { text: 'a\nb' });
  const progress = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"soon"}}';
  const streamed = `event: message\ndata: ${progress}\n\n: alive\n\ndata: ${done}\n\n`;
  t.same(await callOf(t, { type: stream, body: streamed }), { text: 'a\nb' });
  const broken = { type: stream, body: 'id: 7\nretry: 1\ndata:\n\n' };
  t.same(await callOf(t, broken, { type: stream, body: `data: ${done}\n\n` }), { text: 'a\nb' }, 'it is resumed');
});

t.test('an answer is as long as a provider’s may be, streamed as well', async (t) => {
  const text = 'z'.repeat(5 * 1024 * 1024);
  const long = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"${text}"}]}}`;
  const answer = (await callOf(t, { type: stream, body: `data: ${long}\n\n` })) as { text: string };
  t.equal(answer.text.length, text.length);
});

const failures: [promise: string, failure: string, answer: Answer, resumed?: Answer][] = [
  ['a stream that ends without an answer', 'malformed', { type: stream, body: ': alive\n\n' }],
  ['a stream of what is no JSON', 'malformed', { type: stream, body: 'data: {"unfinished": [\n\n' }],
  ['an answer to another request', 'malformed', { body: done.replace('ID', '77') }],
  ['no answer at all', 'malformed', { status: 202, body: '' }],
  ['a result that is none', 'malformed', { body: '{"jsonrpc":"2.0","id":ID,"result":{"content":7}}' }],
  ['a defect of its own', 'failed', { body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"oh"}}' }],
  [
    'a tool that is not there',
    'failed',
    { body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Unknown tool: search_docs"}}' },
  ],
  [
    'a tool that an older server does not have',
    'failed',
    {
      body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"MCP error -32602: Tool search_docs not found"}}',
    },
  ],
  [
    'a tool that is switched off',
    'failed',
    { body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Tool search_docs disabled"}}' },
  ],
  [
    'arguments that name what is not there',
    'invalid-input',
    {
      body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Tool search_docs: the library of fog was not found"}}',
    },
  ],
  [
    'arguments that an older server does not take',
    'invalid-input',
    {
      body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Invalid arguments for tool search_docs: limit"}}',
    },
  ],
  [
    'arguments that a tool does not take',
    'invalid-input',
    {
      body: '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Input validation error: Invalid arguments for tool search_docs"}]}}',
    },
  ],
  [
    'arguments that a tool of the official package for Python does not take',
    'invalid-input',
    {
      body: '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"Error executing tool search_docs: 2 validation errors for search_docsArguments\\nquery\\n  Input should be a valid string"}]}}',
    },
  ],
  [
    'arguments that a tool of FastMCP does not take',
    'invalid-input',
    {
      body: '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"1 validation error for call[search_docs]\\nlimit\\n  Input should be less than or equal to 3"}]}}',
    },
  ],
  [
    'a result that a tool in Python itself does not take',
    'failed',
    {
      body: '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"Error executing tool search_docs: 1 validation error for search_docsOutput\\nfound\\n  Field required"}]}}',
    },
  ],
  ['a refusal over HTTP', 'failed', { status: 404, body: 'no such session' }],
  ['a move to elsewhere', 'failed', { status: 307, body: '' }],
  [
    'a stream that cannot be resumed',
    'failed',
    { type: stream, body: 'id: 7\nretry: 1\ndata:\n\n' },
    { status: 500, body: '' },
  ],
];
for (const [promise, failure, answer, resumed] of failures) {
  t.test(`${promise} ends the call at once`, async (t) => {
    const problem = await problemOf(callOf(t, answer, resumed));
    t.equal(problem.failure, failure, problem.message);
  });
}

t.test('a server that never says that it forgot a session keeps no turn from the next call', async (t) => {
  const call = await callerOf(t, (method) => (method === 'tools/call' ? { body: done } : undefined), 1);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  t.same(await call(), { text: 'a\nb' });
  const next = call();
  mock.timers.tick(60_000);
  t.same(await next, { text: 'a\nb' });
});

t.test('a server is told that its session is over, also where a call ends at its deadline', async (t) => {
  const deadline = new AbortController();
  const heard = new EventEmitter();
  const call = await callerOf(t, (method) => {
    heard.emit(method);
    return method === 'DELETE' ? { status: 204, body: '' } : undefined;
  });
  heard.once('tools/call', () => deadline.abort(new DOMException('late', 'TimeoutError')));
  const forgotten = once(heard, 'DELETE');
  t.equal((await problemOf(call(deadline.signal))).failure, 'timeout');
  await forgotten;
});

t.test('in the sandbox, a tool that several endpoints call answers what each of them reads', async (t) => {
  const options = { ...base.options, result: '{answer: text, pages: found[].title}' };
  const result = {
    ...base.result,
    required: ['answer', 'pages'],
    properties: { answer: { type: 'string' }, pages: { type: 'array', minItems: 1, items: { type: 'string' } } },
  };
  const { adapter } = base;
  const { binding, context, doubles } = await openSetting(t, { ...base, options, result });
  doubles.serve({
    upstreams: [{ ...base.upstream, name: 'the-upstream', adapter: 'mcp', baseUrl: 'https://provider.example' }],
    routes: [
      { upstreams: [{ ...base.options, via: 'the-upstream' }], result: base.result },
      { upstreams: [{ ...options, via: 'the-upstream' }], result },
    ],
  });
  t.match(await adapter.call(base.input, binding, context), { answer: String, pages: [String] });
  t.match(await adapter.call(base.input, { ...binding, options: base.options }, context), { answer: String });
});
