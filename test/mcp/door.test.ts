/** What is this door's own: who may come, what is read, the forms of a payment, connections that end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import express from 'express';
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { startRelayedGateway } from '../relayed-gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';
import { callTool, HEADERS, receiptIn, rpc, signToolPayment, type ToolResult } from './tool-client.ts';

const gateway = await startRelayedGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);

const NAME = 'image_family-e-2';
let made = 0;
const fresh = () => {
  made += 1;
  return { prompt: `a lighthouse, number ${made}` };
};

/** The status of a request whose headers, or target, `fetch` would not let a page choose. */
const statusFor = (
  headers: Record<string, string>,
  address = gateway.url,
  path = '/mcp',
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = httpRequest(address, { path, method: 'POST', headers: { ...HEADERS, ...headers } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }));
  });

t.test('a page of another host, or a host name that somebody pointed here, is refused', async (t) => {
  const { host } = new URL(gateway.url);
  t.equal(await statusFor({ host }), 200);
  t.equal(await statusFor({ host: 'localhost' }), 200);
  t.equal(await statusFor({ host, origin: gateway.url }), 200);
  t.equal(await statusFor({ host: 'evil.example' }), 403);
  t.equal(await statusFor({ host, origin: 'https://evil.example' }), 403);
  t.equal(await statusFor({ host, origin: 'null' }), 403);
  t.equal(await statusFor({ host: `evil.example@${host}` }), 403);
  t.equal(await statusFor({ host: `${host}/evil` }), 403);
});

t.test('a proxy may ask by an address, or by a name of its own network', async (t) => {
  for (const host of ['10.0.3.7:4020', '[fd00::7]:4020', 'gateway:4020', 'turnpike_backend', 'turnpike.internal']) {
    t.equal(await statusFor({ host }), 200, host);
  }
  for (const host of ['gateway.example', 'turnpike.internal.evil.example', 'evil.example.']) {
    t.equal(await statusFor({ host }), 403, host);
  }
});

t.test('a proxy may name the whole address', async (t) => {
  const { host } = new URL(gateway.url);
  for (const origin of ['http://gateway.example', gateway.url, 'http://[::']) {
    t.equal(await statusFor({ host }, gateway.url, `${origin}/mcp?tools=search`), 200, origin);
  }
});

t.test('a client that adds a slash to the address comes to the same door', async (t) => {
  const { mounted } = await gateway.mountedIn(express());
  for (const url of [gateway.url, mounted]) {
    const list = (query: string) => rpc({ url }, 'tools/list', {}, { query });
    t.match(await list('/'), { status: 200, result: { tools: Array } });
    t.same(await list('/?tools=search'), await list('?tools=search'));
    t.equal((await fetch(`${url}/mcp/`)).status, 405);
    const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'mcp-protocol-version' };
    const preflight = await fetch(`${url}/mcp/`, { method: 'OPTIONS', headers: { origin: url, ...asks } });
    t.match(preflight.headers.get('access-control-allow-headers'), /mcp-protocol-version/);
    t.equal((await fetch(`${url}/mcp//`)).status, 404);
  }
});

t.test(
  'the operator lets pages in, and a price that was asked before a reload is honoured, of what is described no more',
  async (t) => {
    const service = await startWeatherService(t);
    const directory = join(t.testdir({ catalogue: weatherFiles(service.url) }), 'catalogue');
    const edit = (name: string, change: (text: string) => string) => {
      const file = join(directory, name);
      writeFileSync(file, change(readFileSync(file, 'utf8')));
    };
    edit('service.yaml', (text) => `${text}\nmcp: { origins: [pages.example] }\n`);
    const weather = await startGateway({
      networks: ['chain-c'],
      catalogue: directory,
      environment: { WEATHER_API_KEY: KEY },
    });
    t.teardown(weather.stop);
    const { host } = new URL(weather.url);
    t.equal(await statusFor({ host, origin: 'https://pages.example' }, weather.url), 200);
    t.equal(await statusFor({ host, origin: 'https://evil.example' }, weather.url), 403);

    const input = { text: 'storm' };
    const proof = await signToolPayment(weather, 'chain-c', await callTool(weather, 'weather_alerts', input));
    edit('endpoints/weather/alerts.yaml', (text) => text.replace('"0.01"', '"0.03"'));
    await weather.reload();
    t.has(await callTool(weather, 'quote', { name: 'weather_alerts', arguments: input }), {
      structuredContent: { price: '0.03' },
    });
    t.match(receiptIn(await callTool(weather, 'weather_alerts', input, proof)), { success: true, amount: '10000' });

    const withdrawn = { text: 'rain' };
    const late = await signToolPayment(weather, 'chain-c', await callTool(weather, 'weather_alerts', withdrawn));
    edit('endpoints/weather/alerts.yaml', (text) => `${text}enabled: false\n`);
    await weather.reload();
    t.match((await callTool(weather, 'weather_alerts', withdrawn)).structuredContent, {
      error: { code: 'unknown_path' },
    });
    t.match((await callTool(weather, 'describe_endpoint', { name: 'weather_alerts' })).structuredContent, {
      error: { code: 'unknown_path', message: /search_endpoints/ },
    });
    t.match(receiptIn(await callTool(weather, 'weather_alerts', withdrawn, late)), { success: true, amount: '30000' });
  },
);

t.test('what is no request of the protocol is told so, in its words', async (t) => {
  const send = async (body: string, method = 'POST') => {
    const answer = await fetch(`${gateway.url}/mcp`, { method, headers: HEADERS, ...(method === 'POST' && { body }) });
    return { status: answer.status, ...((await answer.json()) as object) };
  };
  t.match(await send('{'), { status: 400, jsonrpc: '2.0', error: { code: -32700 }, id: null });
  t.match(await send('[]'), { status: 400, error: { code: -32700 } });
  t.match(await send(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`), {
    status: 400,
    error: { code: -32600, message: /64 levels/ },
  });
  t.match(await send(JSON.stringify({ long: 'x'.repeat(6_000_000) })), { status: 413 });
  t.match(await send('', 'GET'), { status: 405 });
  t.match(await send('', 'DELETE'), { status: 405 });
  // Fetch sends none of it.
  const trace = await new Promise<number | undefined>((resolve) => {
    const sent = httpRequest(`${gateway.url}/mcp`, { method: 'TRACE', headers: HEADERS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.end();
  });
  t.equal(trace, 405);
});

t.test('what a client leaves out may be written as null, but for what a tool is called with', async (t) => {
  const client = { protocolVersion: '2025-06-18', clientInfo: { name: 'client', version: '1', title: null } };
  const capabilities = { roots: { listChanged: null }, sampling: null, experimental: null };
  for (const [method, params] of [
    ['initialize', { ...client, capabilities }],
    ['ping', null],
    ['tools/list', null],
    ['tools/list', { cursor: null, _meta: null }],
    ['tools/list', { _meta: { progressToken: null } }],
    ['tools/call', { name: 'search_endpoints', arguments: null, _meta: null, task: null }],
    ['prompts/get', { name: 'buy', arguments: { task: 'a picture', limit: null } }],
  ] as const) {
    const { status, result, error } = await rpc(gateway, method, params);
    t.match({ status, result, error }, { status: 200, result: Object, error: undefined }, JSON.stringify(params));
  }
  const input = fresh();
  const { 'x402/payment': payment } = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, input));
  t.match(receiptIn(await callTool(gateway, NAME, input, { 'x402/payment': payment, progressToken: null })), {
    success: true,
  });
  t.match((await callTool(gateway, NAME, { prompt: null })).structuredContent, {
    invalidParams: [{ path: '/prompt' }],
  });
  const { status, error } = await rpc(gateway, 'ping', {}, { outside: { id: null } });
  t.match({ status, error }, { status: 400, error: { code: -32600 } }, 'an id is not left out');
});

t.test('nobody is told of thousands of values that nobody expects', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`field ${place}`, 1]));
  const client = { protocolVersion: '2025-06-18', clientInfo: { name: 'client', version: '1' } };
  for (const [method, params] of [
    ['initialize', { ...client, capabilities: { experimental: many } }],
    ['prompts/get', { name: 'buy', arguments: many }],
    ['tools/call', { name: NAME, arguments: fresh(), _meta: many }],
    ['unknown', many],
  ] as const) {
    const { status, error } = await rpc(gateway, method, params);
    t.match({ status, error }, { status: 400, error: { code: -32600, message: /more than 500 values/ } }, method);
  }
  const { structuredContent } = await callTool(gateway, NAME, { ...fresh(), ...many });
  t.match(structuredContent, { invalidParams: [{ path: '/field 0' }] }, 'what a tool is called with is its own matter');
});

t.test('a whole number of more digits than are kept is refused at its place, as at every other door', async (t) => {
  const call = async (name: string, given: string) => {
    const body = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "${name}", "arguments": ${given}}}`;
    const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', headers: HEADERS, body });
    return { status: answer.status, ...((await answer.json()) as object) };
  };
  const refused = (path: string, message: RegExp) => ({
    status: 400,
    error: { code: -32600, data: { code: 'invalid_request', details: [{ path, message }] } },
  });
  const rounded = /would be read as 9007199254740992/;
  const name = 'ai_prediction-market_venue-a_market-list';
  t.match(await call(name, '{"category_id": 9007199254740993}'), refused('/category_id', rounded));
  t.match(
    await call('call_endpoint', `{"name": "${name}", "arguments": {"category_id": 9007199254740993}}`),
    refused('/arguments/category_id', rounded),
  );
  t.match(await call(name, '{"category_id": 9007199254740992}'), { status: 200 });
});

t.test('an id of more digits than are kept is refused: its answer would be to another', async (t) => {
  const ask = async (id: string, method: string, params: string) => {
    const body = `{"jsonrpc": "2.0", "id": ${id}, "method": "${method}", "params": ${params}}`;
    const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', headers: HEADERS, body });
    return { status: answer.status, ...((await answer.json()) as object) };
  };
  const refused = {
    status: 400,
    error: { code: -32600, data: { details: [{ path: '/id', message: /would be read as 9007199254740992/ }] } },
    id: null,
  };
  const call = `{"name": "${NAME}", "arguments": {"prompt": "fog"}}`;
  t.match(await ask('9007199254740993', 'tools/call', call), refused);
  t.match(await ask('9007199254740993', 'tools/list', '{}'), refused);
  t.match(await ask('9007199254740992', 'tools/call', call), { status: 200, id: 9007199254740992 });
});

t.test(
  'a model reads what a call costs in dollars, where it is paid and what comes next, or what to mend first',
  async (t) => {
    const [unpaid, wrong] = [await callTool(gateway, NAME, fresh()), await callTool(gateway, NAME, { prompt: 7 })];
    const read = ({ content: [block] }: typeof unpaid) => JSON.parse(String(block?.text)).error;
    const { caip2 } = gateway.state.evm['chain-c'] ?? {};
    t.match(read(unpaid), /^Payment required: this call costs 0\.06 USD, paid on .*\bchain-c\b/);
    t.match(read(unpaid), `chain-c (${caip2})`);
    t.match(read(unpaid), /Nothing was charged\. .*the same arguments .*x402\/payment/);
    t.match(read(wrong), /invalidParams names each fault.*Nothing was charged/);
    for (const result of [unpaid, wrong])
      t.match(result, { structuredContent: { error: read(result) }, _meta: { 'x402/error': { error: read(result) } } });
  },
);

t.test('a model is told how a tool is paid for, and not of headers alone', async (t) => {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1' } };
  const { result } = await rpc(gateway, 'initialize', client);
  t.match(result?.instructions, /PAYMENT-SIGNATURE/, 'what the service says of itself');
  t.match(result?.instructions, /\n\nA tool takes no headers: .*same arguments .*`_meta\["x402\/payment"\]`/);
});

t.test(
  'every form of a payment is taken: an object, base64, beside the parameters; and several are refused',
  async (t) => {
    for (const form of ['object', 'base64', 'outside'] as const) {
      const input = fresh();
      const { 'x402/payment': payment } = await signToolPayment(
        gateway,
        'chain-c',
        await callTool(gateway, NAME, input),
      );
      const meta = {
        'x402/payment': form === 'base64' ? Buffer.from(JSON.stringify(payment)).toString('base64') : payment,
      };
      const params = { name: NAME, arguments: input, ...(form !== 'outside' && { _meta: meta }) };
      const { result } = await rpc(
        gateway,
        'tools/call',
        params,
        form === 'outside' ? { outside: { _meta: meta } } : {},
      );
      t.match(result && receiptIn(result), { success: true }, form);
    }
    const payment = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, fresh()));
    const before = await gateway.calls();
    const several = await callTool(gateway, NAME, fresh(), { ...payment, 'org.paymentauth/credential': {} });
    t.match(several.structuredContent, { error: { code: 'several_credentials' } });
    const elsewhere = await callTool(gateway, 'image_family-a-2-pro', fresh(), { 'org.paymentauth/credential': {} });
    t.match(elsewhere.structuredContent, { error: { code: 'method_unsupported', message: /pay it over x402/ } });
    for (const bad of [7, 'x', [], { x402Version: 2 }, 'A'.repeat(9_000), { x402Version: 2, pad: 'x'.repeat(9_000) }]) {
      const refused = await callTool(gateway, NAME, fresh(), { 'x402/payment': bad });
      t.ok(Array.isArray(refused.structuredContent?.accepts), 'refused with a fresh challenge');
      t.notMatch(refused.structuredContent?.error, /Payment required|This call costs/);
    }
    for (const bad of [7, 'x', {}, { challenge: {}, payload: {} }, { challenge: 1 }]) {
      const refused = await callTool(gateway, NAME, fresh(), { 'org.paymentauth/credential': bad });
      t.match(refused.structuredContent, { x402Version: 2, error: /credential|challenge/ });
    }
    t.same(await gateway.calls(), before);
  },
);

t.test('a payment that is written as JSON is told what is taken, and not that there are several', async (t) => {
  const input = fresh();
  const { 'x402/payment': payment } = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, input));
  const text = JSON.stringify(payment);
  const taken = /base64 .* JSON/;
  const refused = await callTool(gateway, NAME, input, { 'x402/payment': text });
  t.match(refused, { isError: true, structuredContent: { accepts: Array, error: taken } });
  for (const header of ['payment-signature', 'x-payment']) {
    const answer = await fetch(`${gateway.url}/image/family-e-2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [header]: text },
      body: JSON.stringify(input),
    });
    t.match({ status: answer.status, ...((await answer.json()) as object) }, { status: 402, error: taken }, header);
  }
});

t.test('arguments may come in another order with the payment, at every depth', async (t) => {
  const input = { prompt: 'x', options: 1, resolution: '1k' };
  t.match((await callTool(gateway, NAME, input)).structuredContent, { invalidParams: [{ path: '/options' }] });
  const name = 'llm_vendor1-opus-5';
  const asked = { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 20 };
  const reordered = { max_tokens: 20, messages: [{ content: 'Say hello', role: 'user' }] };
  const proof = await signToolPayment(gateway, 'chain-c', await callTool(gateway, name, asked));
  const first = await callTool(gateway, name, reordered, proof);
  t.match(receiptIn(first), { success: true });
  const again = await callTool(gateway, name, asked, proof);
  t.same(again.structuredContent, first.structuredContent);
  t.equal(again._meta?.['turnpike/replayed'], true);
});

for (const era of ['2025', '2026'] as const) {
  t.test(`a caller of ${era} that leaves in the middle comes back for its answer with the same payment`, async (t) => {
    const mode = era === '2026' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client({ name: 'leaver', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url)));
    t.teardown(() => client.close());
    const input = fresh();
    const meta = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, input));
    const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
    const work = gateway.upstreams.gate.holdNext();
    const leaver = new AbortController();
    const left = client.callTool({ name: NAME, arguments: input, _meta: meta }, { signal: leaver.signal });
    const gone = t.rejects(left);
    await work.reached;
    leaver.abort();
    await gone;
    work.release();
    const answer = await callTool(gateway, NAME, input, meta);
    t.match(receiptIn(answer), { success: true });
    t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
    t.equal((await gateway.earned('chain-c')) - earned, 60_000n);
  });
}

t.test('a client that asked for it hears that its call is under way', async (t) => {
  const client = new Client({ name: 'waiter', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url)));
  t.teardown(() => client.close());
  const input = fresh();
  const meta = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, input));
  const work = gateway.upstreams.gate.holdNext();
  const heard: (string | undefined)[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => {
    heard.push(message);
    work.release();
  };
  const answer = await client.callTool({ name: NAME, arguments: input, _meta: meta }, { onprogress });
  t.match(receiptIn(answer as ToolResult), { success: true });
  const [first, ...later] = heard;
  t.equal(first, 'Under way for 3 s');
  for (const message of later) t.match(message, /^Under way for \d+ s$/);
});

t.test('a call in the plainest form gets the same as one that the package serves', async (t) => {
  const ask = async (name: string, input: object, meta: object) => {
    const { result } = await rpc(gateway, 'tools/call', { name, arguments: input, _meta: meta });
    const { 'turnpike/request-id': ofAnswer, ...said } = result?._meta ?? {};
    const { requestId: ofProblem } = (result?.structuredContent?.error ?? {}) as { requestId?: string };
    const id = String(ofAnswer ?? ofProblem ?? 'none is told');
    return JSON.parse(JSON.stringify({ ...result, _meta: said }).replaceAll(id, 'its own'));
  };
  const input = fresh();
  const proof = await signToolPayment(gateway, 'chain-c', await callTool(gateway, NAME, input));
  for (const [name, given, meta] of [
    [NAME, input, proof],
    ['quote', {}, {}],
    ['nothing', {}, {}],
    ['search_endpoints', { query: 'speech' }, {}],
  ] as const) {
    await ask(name, given, meta);
    t.same(await ask(name, given, meta), await ask(name, given, { ...meta, progressToken: 7 }), name);
  }
});

t.test('a client that announces the experimental extension is asked in its own kind of result', async (t) => {
  const revision = '2026-07-28';
  const ask = async (capabilities: object) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const params = { name: NAME, arguments: fresh(), _meta };
    const headers = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': NAME };
    return (await rpc(gateway, 'tools/call', params, { headers })).result;
  };
  const announced = await ask({ extensions: { 'org.x402/payment': {} } });
  t.has(announced, { resultType: 'payment_required', paymentRequired: { x402Version: 2 } });
  t.has(await ask({}), { resultType: 'complete', isError: true });
});
