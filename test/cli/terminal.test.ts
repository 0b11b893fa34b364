/** A gateway whose words would write on the terminal of who asks it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { writeRunning } from '../../src/start/running.ts';
import { wordsFor } from '../words-for.ts';

/** Names the window, empties it, and empties it once more as C1 writes it. */
const WRITES = '\u001b]0;owned\u0007\u001b[2J\u009b2J';

const operation = {
  summary: WRITES,
  requestBody: {
    content: { 'application/json': { schema: { type: 'object', properties: { [WRITES]: { enum: [WRITES] } } } } },
  },
  'x-payment-info': { price: WRITES },
};

const answers: Readonly<Record<string, readonly [status: number, body: object]>> = {
  '/sandbox': [200, { mode: 'sandbox', evm: {}, payTo: {} }],
  '/openapi.json': [
    200,
    { openapi: '3.1.0', 'x-service-info': { mcp: 'x' }, paths: { [`/${WRITES}`]: { post: operation } } },
  ],
  '/wrong': [402, { invalidParams: [{ path: WRITES, message: WRITES }] }],
};

/** What a terminal would be sent by a command: standard output and standard error. */
const sentBy = (command: string, words: readonly string[], environment = {}): Promise<string> =>
  new Promise((done) => {
    const env = { PATH: process.env.PATH, ...environment };
    execFile(process.execPath, [...wordsFor(`src/cli/${command}.ts`), ...words], { env }, (_error, out, err) =>
      done(out + err),
    );
  });

t.test('what a gateway says writes text on a terminal, and nothing else', async (t) => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = String(Buffer.concat(chunks));
    const refusal = () => ({ jsonrpc: '2.0', id: JSON.parse(sent).id, error: { code: -32_600, message: WRITES } });
    const own = request.url === '/mcp' ? ([200, refusal()] as const) : answers[request.url ?? ''];
    const [status, text] = own ? [own[0], JSON.stringify(own[1])] : [500, WRITES];
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [command, ...words] of [
    ['client'],
    ['client', '--only', 'moon'],
    ['mcp'],
    ['pay', '/wrong', '{}'],
    ['pay', '/failing', '{}'],
  ] as const) {
    const sent = await sentBy(command, [...words, '--url', url]);
    const name = [command, ...words].join(' ');
    t.match(sent, 'owned', `${name} passes it on`);
    t.notMatch(sent.replaceAll('\n', ''), /\p{Cc}/u, `${name} writes nothing but text and lines`);
  }
});

t.test('what a chain’s node says does so, too', async (t) => {
  const server = createServer(async (request, response) => {
    const node = `http://${request.headers.host}`;
    const evm = { 'chain-c': { caip2: 'eip155:84532', rpcUrl: node, asset: `0x${'a'.repeat(40)}` } };
    const state = { mode: 'sandbox', evm, payTo: { 'chain-c': `0x${'b'.repeat(40)}` } };
    const refusal = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: `${WRITES}\nthey agree` } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.method === 'GET' ? state : refusal));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const data = t.testdir({});
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(writeRunning(data, { pid: process.pid, url }));
  const sent = await sentBy('reconcile', ['--from', '2026-01-01', '--to', '2026-01-02'], { TURNPIKE_DATA: data });
  t.match(sent, 'owned');
  t.notMatch(sent.replaceAll('\n', ''), /\p{Cc}/u, 'nothing but text and lines');
  t.notMatch(sent, /^they agree/m, 'no line of its own');
});
