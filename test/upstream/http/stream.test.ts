import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import type { UpstreamStream } from '../../../src/upstream/http/upstream-http.ts';
import { problemOf } from '../providers/contract.ts';

const SECRET = 'sk-very-secret';

async function open(
  t: Test,
  handler: (response: ServerResponse, call: number) => unknown,
  options: { concurrency?: number; timeoutMs?: number } = {},
) {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    handler(response, calls);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { concurrency, timeoutMs } = options;
  const http = openUpstreamHttp({
    upstream: {
      name: 'chat',
      adapter: 'chat',
      baseUrl: 'https://chat.example',
      ...(concurrency !== undefined && { concurrency }),
    },
    adapter: {},
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets: { key: SECRET },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  t.teardown(async () => {
    await http.close();
    server.close();
    server.closeAllConnections();
  });
  return { http, calls: () => calls };
}

const request = (signal = new AbortController().signal) => ({ method: 'POST', path: '/', json: {}, signal }) as const;

async function textOf({ body }: UpstreamStream): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

t.test('gives the first bytes before the last are there', async (t) => {
  let end: (() => void) | undefined;
  const { http } = await open(t, (response) => {
    response.writeHead(200, { 'X-Kind': 'story' }).write('once ');
    end = () => response.end('upon a time');
  });
  const stream = await http.stream(request());
  t.match(stream, { status: 200, headers: { 'x-kind': 'story' } });
  const [first] = await once(stream.body, 'data');
  t.equal(String(first), 'once ');
  end?.();
  t.equal(await textOf(stream), 'upon a time');
});

t.test('keeps its turn until the body has been read or is given up', async (t) => {
  const { http, calls } = await open(t, (response) => response.writeHead(200).write('...'), { concurrency: 1 });
  const first = await http.stream(request());
  const second = http.stream(request());
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(calls(), 1);
  first.body.destroy();
  const stream = await second;
  t.equal(stream.status, 200);
  stream.body.destroy();
});

t.test('asks once, and tells why nothing came, without secrets', async (t) => {
  const { http, calls } = await open(t, (response, call) =>
    call === 1 ? response.writeHead(503).end(`overloaded, ${SECRET}`) : response.destroy(),
  );
  const problem = await problemOf(http.stream(request()));
  t.match(problem, { failure: 'failed', status: 503, providerMessage: /overloaded/ });
  t.notMatch(`${problem.message} ${problem.providerMessage}`, SECRET);
  t.match(await problemOf(http.stream(request())), { failure: 'failed' });
  t.equal(calls(), 2);
});

t.test('leaves to the caller what it wants to read itself', async (t) => {
  const { http } = await open(t, (response) => response.writeHead(400).end('too long'));
  const stream = await http.stream({ ...request(), accept: [400] });
  t.equal(stream.status, 400);
  t.equal(await textOf(stream), 'too long');
});

t.test(
  'reads what the caller wants to read itself whole, and no further than it may, whatever its status',
  async (t) => {
    const { http } = await open(t, (response, call) => {
      response.writeHead(202).write(`not yet, ${SECRET}`);
      if (call === 1) response.end();
    });
    const wanted = { ...request(), accept: [202], maxBytes: 25 };
    t.equal(await textOf(await http.stream(wanted)), 'not yet, [secret]');
    t.match(await problemOf(http.stream({ ...wanted, maxBytes: 10 })), { failure: 'malformed' });
  },
);

t.test('limits the time to the first bytes, not to the last', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let end: (() => void) | undefined;
  const { http, calls } = await open(
    t,
    (response, call) => {
      if (call === 2) return;
      response.writeHead(200).write('slow');
      end = () => response.end(' and steady');
    },
    { timeoutMs: 100 },
  );
  const stream = await http.stream(request());
  mock.timers.tick(150);
  end?.();
  t.equal(await textOf(stream), 'slow and steady');
  const late = problemOf(http.stream(request()));
  while (calls() < 2) await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(100);
  t.match(await late, { failure: 'timeout', message: /no answer in time/ });
});

t.test('stops the upstream at the signal, and says what the error of the body means', async (t) => {
  let closed: Promise<unknown> | undefined;
  const { http } = await open(t, (response) => {
    closed = once(response, 'close');
    response.writeHead(200).write('on and on');
  });
  const deadline = new AbortController();
  const stream = await http.stream(request(deadline.signal));
  const read = textOf(stream).catch(stream.problemOf);
  deadline.abort(new DOMException('late', 'TimeoutError'));
  t.match(await read, { failure: 'timeout', message: /no answer in time/ });
  await closed;
});

t.test('survives a signal that comes while nobody reads', async (t) => {
  const { http } = await open(t, (response) => response.writeHead(200).write('on and on'));
  const leave = new AbortController();
  const stream = await http.stream(request(leave.signal));
  leave.abort();
  await new Promise((resolve) => stream.body.once('close', resolve));
  t.ok(stream.body.destroyed);
});

t.test('says that an upstream broke off', async (t) => {
  const { http } = await open(t, (response) => {
    response.writeHead(200).write('half', () => response.destroy());
  });
  const stream = await http.stream(request());
  t.match(await textOf(stream).catch(stream.problemOf), { failure: 'failed' });
});
