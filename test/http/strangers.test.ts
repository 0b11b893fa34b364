/** What anybody may send without paying, and what it may cost the gateway. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { nextTurn, ownTurn } from '../../src/request/large-bodies.ts';
import { startGateway } from '../gateway.ts';
import { callTool } from '../mcp/tool-client.ts';

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

t.test('of very many faults the first alone is looked for, at every door', async (t) => {
  const parts = JSON.stringify({ messages: [{ role: 'user', content: Array(15_000).fill({}) }] });
  t.equal(faultsOf(await ask('/llm/vendor5-k3', json, parts)).length, 1);
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 0]));
  const called = await callTool(gateway, 'search_endpoints', fields);
  t.match(called.structuredContent, { error: { code: 'invalid_request' } });
  const { error } = called.structuredContent ?? {};
  t.equal((error as { details: unknown[] }).details.length, 1);
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
  for (const top of ['http://gateway.example', 'http://']) {
    t.match(await ask(top, {}, '', 'GET'), { status: 200, body: /^# Turnpike/ }, top);
  }
});

/** Everything that comes back on one connection until it is closed. */
function say(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    socket.once('error', reject);
    socket.toArray().then((pieces) => resolve(Buffer.concat(pieces).toString()), reject);
  });
}

const POST = `POST ${image} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
const unreadable: [string, string, number, string][] = [
  ['no HTTP', '\x16\x03\x01\x02\r\n\r\n', 400, 'unreadable_request'],
  ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'unreadable_request'],
  ['headers of 20 KB', `GET /healthz HTTP/1.1\r\nHost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'too_many_headers'],
  ['a chunk without a size', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`, 400, 'unreadable_request'],
  ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400, 'unreadable_request'],
  ['what is for a proxy', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405, 'method_not_allowed'],
];
for (const [what, text, status, code] of unreadable) {
  t.test(`what no server can read is a problem like any other: ${what}`, async (t) => {
    const [head = '', body = ''] = (await say(text)).split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `));
    const { error } = JSON.parse(body);
    t.equal(error.code, code);
    t.match(head.toLowerCase(), `request-id: ${error.requestId}`);
  });
}

t.test('an unreadable request takes no answer from those that came before it', async (t) => {
  const asked = `${POST}Content-Length: ${prompt.length}\r\n\r\n${prompt}`;
  const answers = await say(`${asked}${asked}nonsense\r\n\r\n`);
  t.equal(answers.match(/HTTP\/1.1 402 /g)?.length, 2);
});

t.test('who is gone before an unreadable request is answered does no harm', async (t) => {
  for (const text of ['CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', 'nonsense\r\n\r\n']) {
    for (let time = 0; time < 20; time += 1) {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text, () => socket.resetAndDestroy()));
      await new Promise((resolve) => socket.once('close', resolve));
    }
  }
  t.equal((await ask(image, json, prompt)).status, 402);
});

t.test('what else a request expects than to go on changes nothing', async (t) => {
  t.equal((await ask(image, { ...json, expect: 'something-else' }, prompt)).status, 402);
});

t.test('who sends too large a body gets to read that it is', async (t) => {
  const body = `{"prompt":"${'a'.repeat(5_000_000)}"}`;
  for (const headers of [json, { ...json, 'transfer-encoding': 'chunked' }]) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(image, headers, body)));
    t.same(new Set(answers.map(({ status }) => status)), new Set([413]));
  }
});

t.test('large bodies are worked on one in a turn of the event loop, and others have turns in between', async (t) => {
  const order: string[] = [];
  const steps = Array.from({ length: 3 }, () => ownTurn(Buffer.alloc(1_000_000))?.then(() => order.push('large')));
  t.equal(ownTurn(Buffer.alloc(1_000)), undefined, 'a small one does not wait');
  for (let other = 0; other < 2; other += 1) {
    await turn();
    order.push('other');
  }
  await Promise.all(steps);
  t.same(order, ['large', 'other', 'large', 'other', 'large']);
});

t.test('a large body that was begun is worked on before those that wait', async (t) => {
  const order: string[] = [];
  const large = Buffer.alloc(1_000_000);
  const whole = async (name: string) => {
    await ownTurn(large);
    await nextTurn(large);
    order.push(name);
  };
  await Promise.all([whole('first'), whole('second'), ownTurn(large)?.then(() => order.push('third'))]);
  t.same(order, ['first', 'second', 'third']);
});

t.test('a text is as long as it has characters, however many units those take', async (t) => {
  const faults = async (query: string) => faultsOf(await ask('/tiktok/search', json, JSON.stringify({ query })));
  for (const character of ['a', '👍']) {
    t.equal(await faults(character.repeat(512)), undefined);
    t.match(await faults(character.repeat(513)), [
      { path: '/query', message: /^must NOT have more than 512 characters$/ },
    ]);
  }
  t.match(await faults(''), [{ path: '/query', message: /^must NOT have fewer than 1 characters$/ }]);
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
