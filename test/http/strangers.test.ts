/** What anybody may send without paying, and what it may cost the gateway. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);
const { port } = new URL(gateway.url);

const image = '/image/family-a-2-pro';
const json = { 'content-type': 'application/json' };
const prompt = '{"prompt":"a lighthouse in fog"}';

interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const answerTo = (asked: ClientRequest): Promise<Answered> =>
  new Promise((resolve, reject) => {
    asked.once('response', async (answer: IncomingMessage) => {
      const body = Buffer.concat(await answer.toArray()).toString();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
    });
    asked.once('error', reject);
  });

const start = (path: string, headers: Record<string, string | string[]>, method = 'POST') =>
  httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });

function ask(path: string, headers: Record<string, string | string[]>, body = '', method = 'POST') {
  const asked = start(path, headers, method);
  const answer = answerTo(asked);
  asked.end(body);
  return answer;
}

const faultsOf = ({ body }: Answered): { path: string; message: string }[] => JSON.parse(body).invalidParams;

/** Bytes that buffers hold once everything that can go has gone. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().arrayBuffers;
}

t.test('a body that comes in small pieces is read like any other, and holds no more memory', async (t) => {
  const text = 'a'.repeat(900);
  const asked = start(image, { ...json, 'transfer-encoding': 'chunked' });
  const answer = answerTo(asked);
  asked.setNoDelay(true);
  const before = heldBytes();
  for (const piece of `{"prompt":"${text}`) {
    asked.write(piece);
    await turn();
  }
  t.ok(heldBytes() - before < 8_000_000, 'one connection holds its own bytes, not the network’s buffers');
  asked.end('"}');
  const { status, body } = await answer;
  t.equal(status, 402);
  t.notOk(JSON.parse(body).invalidParams, 'and nothing of it is lost');
});

t.test('a body cut into absurdly many pieces is refused before it is read', async (t) => {
  const asked = start(image, { ...json, 'transfer-encoding': 'chunked' });
  const answer = answerTo(asked);
  const pieces = `${'1\r\na\r\n'.repeat(20_000)}`;
  asked.once('socket', (socket) => socket.once('connect', () => asked.flushHeaders()));
  asked.flushHeaders();
  await new Promise((resolve) => asked.once('socket', (socket) => socket.once('connect', resolve)));
  // Past the client's own framing, so that every byte is a chunk of its own.
  asked.socket?.write(pieces);
  const { status, headers, body } = await answer;
  t.equal(status, 400);
  t.match(body, /too many small pieces/);
  t.equal(headers.connection, 'close');
});

t.test('a body of too many values or levels is named as such before anything is checked', async (t) => {
  const many = `{${Array.from({ length: 60_000 }, (_, at) => `"f${at}":0`).join(',')}}`;
  t.match(faultsOf(await ask(image, json, many)), [{ path: '/', message: 'has more than 50000 values' }]);
  const deep = `{"prompt":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
  t.match(faultsOf(await ask(image, json, deep)), [{ path: '/', message: 'is nested more than 64 levels deep' }]);
  const brackets = JSON.stringify({ prompt: `"\\"${'[{,'.repeat(60_000)}` });
  t.notOk(faultsOf(await ask(image, json, brackets)), 'what stands in a text is only text');
});

t.test('a query that names one field thousands of times is answered like any other wrong one', async (t) => {
  const { status, body } = await ask(`/stock/arb?${'a&'.repeat(7_000)}`, {}, '', 'GET');
  t.equal(status, 402);
  t.match(JSON.parse(body).invalidParams, [{ path: '/a' }]);
});

t.test('a request with more than 100 headers is refused whole, for a payment might be among them', async (t) => {
  const some = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, '1']));
  const tooMany = await ask(image, { ...some(120), ...json }, prompt);
  t.equal(tooMany.status, 431);
  t.match(JSON.parse(tooMany.body), { error: { code: 'too_many_headers', requestId: /^[0-9a-f-]{36}$/ } });
  t.equal(tooMany.headers['request-id'], JSON.parse(tooMany.body).error.requestId);
  t.equal((await ask(image, { ...some(80), ...json }, prompt)).status, 402);
});

t.test('a request target in absolute form means its path', async (t) => {
  t.equal((await ask(`http://gateway.example${image}`, json, prompt)).status, 402);
  t.equal((await ask('http://gateway.example/healthz', {}, '', 'GET')).status, 200);
  t.equal((await ask('http://gateway.example', {}, '', 'GET')).status, 404);
});

t.test('no answer lets a browser guess its type', async (t) => {
  for (const path of [image, '/stock/arb', '/llms.txt', '/healthz', '/v1/models', '/media/none.png', '/nothing']) {
    const { headers } = await ask(path, json, path === image ? prompt : '', path === image ? 'POST' : 'GET');
    t.equal(headers['x-content-type-options'], 'nosniff', path);
  }
});

t.test('an error outside of the road of a paid request has a request id too', async (t) => {
  for (const path of ['/media/none.png', '/media/%E0%A4%A']) {
    const { headers, body } = await ask(path, {}, '', 'GET');
    t.match(JSON.parse(body).error, { code: 'unknown_path', requestId: headers['request-id'] }, path);
    t.match(headers['request-id'], /^[0-9a-f-]{36}$/);
  }
});

t.test('many half-open connections keep nobody else waiting', async (t) => {
  const sockets = Array.from({ length: 50 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.write(`POST ${image} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{`);
  }
  t.equal((await ask(image, json, prompt)).status, 402);
  for (const socket of sockets) socket.destroy();
});
