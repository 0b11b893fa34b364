/** What an operator reads in the log of each request, and what the log never has. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { readConfig } from '../../../src/gateway/config.ts';
import type { Log } from '../../../src/log.ts';
import { readable } from '../../../src/readable-log.ts';
import { readTrace } from '../../../src/request/trace.ts';
import { receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { callTool, signToolPayment } from '../../mcp/tool-client.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';
import { mcpDoor } from '../doors.ts';

type Line = Record<string, unknown> & { readonly message: string };

/** A log that is read by the test. */
function openLines() {
  const lines: Line[] = [];
  const write = (details: object, message: string) =>
    void lines.push({ ...(JSON.parse(JSON.stringify(details)) as object), message });
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const requests = () => lines.filter(({ message }) => message === 'request');
  return {
    lines,
    log,
    requests,
    /** The line comes once the answer is out, which its reader may see first. */
    async line(wanted: (line: Line) => boolean): Promise<Line> {
      for (;;) {
        const found = requests().find(wanted);
        if (found) return found;
        await delay(5);
      }
    },
  };
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const seen: (string | undefined)[] = [];
const provider = createServer((incoming, response) => {
  seen.push(incoming.headers.traceparent as string | undefined, incoming.headers.tracestate as string | undefined);
  response.writeHead(500).end();
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
t.teardown(() => provider.close());

const { lines, log, requests, line } = openLines();
const gateway = await startGateway({
  networks: ['chain-c'],
  log,
  upstreams: { tokens: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
});
t.teardown(gateway.stop);
const PATH = '/image/family-e-2';
const TOOL = 'image_family-e-2';
const CHAT = '/v1/chat/completions';
const MODEL = 'vendor3-5.6-luna';

t.test('a paid call is one line with what it cost, and every line of it has its request id', async (t) => {
  const call = request(gateway, PATH, { prompt: 'a lighthouse' });
  const proof = await signProof(gateway, 'chain-c', call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  const { transaction, payer: signed = '' } = receiptOf(answer);
  const payer = signed.toLowerCase();
  const requestId = answer.headers.get('request-id');
  t.match(await line((each) => each.requestId === requestId), {
    route: 'image/family-e-2',
    door: 'x402',
    method: 'POST',
    status: 200,
    ms: Number,
    bytes: Number,
    amount: '0.06',
    network: 'chain-c',
    payer,
    transaction,
    upstreamMs: Number,
    attempt: 1,
  });
  t.match(
    lines.filter(({ message }) => message === 'upstream answered'),
    [{ requestId }],
  );

  const again = await sendProof(call, proof);
  const replay = await line((each) => each.requestId === again.headers.get('request-id'));
  t.match(replay, { replayed: true, amount: '0.06', network: 'chain-c', payer, transaction });
  t.notOk('upstreamMs' in replay);
  const all = JSON.stringify(lines);
  for (const value of Object.values(proof)) t.notMatch(all, value);
  t.notMatch(all, 'lighthouse');
});

t.test('a tool call has a line of its own beside that of its request', async (t) => {
  const door = mcpDoor(gateway);
  const way = { rail: 'x402', network: 'chain-c' } as const;
  const input = { prompt: 'a harbour' };
  const said = await door.ask(way, PATH, input, await door.sign(way, PATH, input));
  const tool = await line((each) => each.transaction === said.transaction);
  t.match(tool, { door: 'mcp', route: 'image_family-e-2', method: 'tools/call', status: 200, amount: '0.06' });
  const carried = await line((each) => each.requestId === tool.requestId && each !== tool);
  t.match(carried, { door: 'mcp', route: '/mcp', method: 'POST', status: 200 });
});

t.test('a call whose caller left has the status that its work came to, at every door', async (t) => {
  const left = openLines();
  const relayed = await startRelayedGateway({ networks: ['chain-c'], log: left.log });
  t.teardown(relayed.stop);
  const [image, toolCall] = [
    request(relayed, PATH, { prompt: 'a storm' }),
    { name: TOOL, arguments: { prompt: 'fog' } },
  ];
  const proof = await signProof(relayed, 'chain-c', image);
  const meta = await signToolPayment(relayed, 'chain-c', await callTool(relayed, TOOL, toolCall.arguments));
  const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...toolCall, _meta: meta } };
  const messages = [{ role: 'user', content: 'Hello' }];
  const { apiKey } = relayed.state as { apiKey?: string };
  for (const [door, upstream, { url, init }, headers] of [
    ['x402', 'predictions', image, proof],
    ['mcp', 'predictions', request(relayed, '/mcp', tool), { accept: 'application/json, text/event-stream' }],
    ['api-key', 'chat', request(relayed, CHAT, { model: MODEL, messages }), { authorization: `Bearer ${apiKey}` }],
  ] as const) {
    await relayed.fault({ upstream, fault: '500' });
    const work = relayed.upstreams.gate.holdNext();
    const leaver = new AbortController();
    const asked = fetch(url, { ...init, headers: { ...init.headers, ...headers }, signal: leaver.signal });
    const gone = t.rejects(asked);
    await work.reached;
    leaver.abort();
    await gone;
    // What is answered after that was asked after that: by then the gateway knows.
    for (let asks = 0; asks < 2; asks += 1) await fetch(`${relayed.url}/healthz`);
    work.release();
    const found = await left.line((each) => each.door === door && each.isCut === true && each.route !== '/mcp');
    t.equal(found.status, 500, door);
  }
});

t.test('calls with API keys, documents and what is not sold are named by what they are', async (t) => {
  const { apiKey } = gateway.state as { apiKey?: string };
  const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }),
  });
  t.equal(chat.status, 200);
  const charged = await line((each) => each.requestId === chat.headers.get('request-id'));
  t.match(charged, { door: 'api-key', route: '/v1/chat/completions', amount: /^0\.0/, upstreamMs: Number });
  await fetch(`${gateway.url}/openapi.json?secret=1`);
  t.match(await line((each) => each.route === '/openapi.json'), { door: 'document', method: 'GET', status: 200 });
  await fetch(`${gateway.url}/wp-admin/made-up`);
  await callTool(gateway, 'made-up-tool', {});
  t.match(await line((each) => each.status === 404 && each.door === 'document'), { route: 'unsold' });
  t.match(await line((each) => each.status === 404 && each.door === 'mcp'), { route: 'unsold' });
  t.notMatch(JSON.stringify(requests()), /made-up|secret/);
  t.notMatch(JSON.stringify(lines), apiKey);
});

t.test(
  'a well-formed traceparent is in the log and reaches the provider as another span, and nothing else does',
  async (t) => {
    const call = request(gateway, '/chain-c-main/tokens-api/search', { q: 'usdc', limit: 5 });
    const headers = {
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      tracestate: 'vendor=secret',
    };
    const proof = await signProof(gateway, 'chain-c', call);
    const answer = await sendProof({ ...call, init: { ...call.init, headers } }, proof);
    const requestId = answer.headers.get('request-id');
    t.match(await line((each) => each.requestId === requestId), { traceId: TRACE });
    t.ok(seen.length > 0);
    for (const value of seen.filter((each) => each !== undefined)) {
      t.match(value, new RegExp(`^00-${TRACE}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    }
    t.ok(seen.some((each) => each !== undefined));
    t.same(
      [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `ff-${TRACE}-00f067aa0ba902b7-01`, 'x', `00-${TRACE}-1-01-more`].map(
        readTrace,
      ),
      [undefined, undefined, undefined, undefined],
    );
  },
);

t.test('of those who only ask for a price, the log has the part that the operator wants', async (t) => {
  const quiet = openLines();
  const other = await startGateway({
    networks: ['chain-c'],
    log: quiet.log,
    environment: { TURNPIKE_LOG_UNPAID: '0' },
  });
  t.teardown(other.stop);
  const call = request(other, PATH, { prompt: 'a price' });
  for (let times = 0; times < 10; times += 1) t.equal((await fetch(call.url, call.init)).status, 402);
  await callTool(other, 'image_family-e-2', { prompt: 'a price' });
  const bad = await sendProof(call, { 'payment-signature': 'bm90aGluZw==' });
  t.equal(bad.status, 402);
  await quiet.line((each) => each.requestId === bad.headers.get('request-id'));
  t.equal(quiet.requests().length, 1, 'a payment that is refused is no mere question');
  t.throws(() => readConfig({ TURNPIKE_LOG_UNPAID: '2' }), {
    message: /TURNPIKE_LOG_UNPAID must be a number from 0 to 1/,
  });
  t.throws(() => readConfig({ TURNPIKE_LOG_UNPAID: 'few' }), { message: /TURNPIKE_LOG_UNPAID/ });
});

t.test('a person at a terminal reads a line without escapes of the terminal in it', (t) => {
  const said = {
    level: 40,
    time: 1_700_000_000_123,
    msg: 'retrying',
    upstream: 'predictions',
    problem: 'is \u001b[2Jdown\u009b',
  };
  t.equal(
    readable(`${JSON.stringify(said)}\n`),
    '22:13:20.123 WARN  retrying upstream=predictions problem="is \\u001b[2Jdown\\u009b"\n',
  );
  t.match(
    readable(JSON.stringify({ level: 50, time: 0, msg: 'failed', err: { stack: 'Error: no\n    at x' } })),
    /failed\n {4}Error: no\n/,
  );
  t.end();
});
