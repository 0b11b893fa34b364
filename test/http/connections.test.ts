/** Strangers who keep connections without using them. */
import { once } from 'node:events';
import { createServer, get, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { mock } from 'node:test';
import t from 'tap';
import { listen } from '../../src/http/server.ts';
import { openUnread } from '../../src/http/unread.ts';

const generous = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000, connections: 100, unreadMs: 60_000 };

async function serve(limits: Partial<typeof generous>) {
  const server = await listen(
    (request, response) => request.resume().once('end', () => response.end('answered')),
    '127.0.0.1',
    0,
    { ...generous, ...limits },
  );
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Everything that comes until the server closes. */
function say(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(heard));
  });
}

t.test('headers that never end are not waited for', async (t) => {
  const port = await serve({ headersMs: 200, requestMs: 200 });
  t.match(await say(port, 'GET / HTTP/1.1\r\nHost: x\r\n'), /^HTTP\/1.1 408 /);
});

t.test('a body that never ends is not waited for', async (t) => {
  const port = await serve({ headersMs: 200, requestMs: 200 });
  t.match(await say(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf'), /^HTTP\/1.1 408 /);
});

t.test('a connection that is not used again is closed', async (t) => {
  const port = await serve({ idleMs: 100 });
  t.match(await say(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), /answered/);
});

t.test('more connections than there may be are closed at once', async (t) => {
  const port = await serve({ connections: 1 });
  const first = connect(port, '127.0.0.1');
  await new Promise((resolve) => first.once('connect', resolve));
  t.equal(await say(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), '');
  first.destroy();
});

/** Asks and reads nothing; resolves when the server closes. */
function asksAndDoesNotRead(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('close', resolve));
}

const openOn = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

const LARGE = Buffer.alloc(30_000_000, 'x');
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

t.test('an answer of which nothing is read is not kept for ever', async (t) => {
  const server = await listen((_, response) => response.end(LARGE), '127.0.0.1', 0, { ...generous, unreadMs: 200 });
  t.teardown(() => server.close());
  const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)));
  void asksAndDoesNotRead((server.address() as AddressInfo).port, GET);
  await closed;
  t.equal(await openOn(server), 0);
});

t.test('an answer that is read slowly comes whole, and work that is silent for long is waited for', async (t) => {
  const server = await listen(
    ({ url }, response) =>
      void (url === '/slow' ? setTimeout(() => response.end('worked'), 2_500) : response.end(LARGE)),
    '127.0.0.1',
    0,
    // Longer than this process is kept waiting on a busy machine, for it reads as well.
    { ...generous, unreadMs: 2_000 },
  );
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  t.match(await say(port, 'GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /worked/);
  let read = 0;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
  );
  socket.on('data', ({ length }) => {
    read += length;
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  await new Promise((resolve) => socket.once('close', resolve));
  t.ok(read > LARGE.length, `${read} bytes`);
});

t.test('requests whose answers nobody waits for are not all worked on', async (t) => {
  let worked = 0;
  const answers: ServerResponse[] = [];
  const server = await listen(
    (_, response) => {
      worked += 1;
      answers.push(response);
    },
    '127.0.0.1',
    0,
    generous,
  );
  t.teardown(() => server.close());
  const heard = say((server.address() as AddressInfo).port, GET.repeat(240));
  while (answers.length < 8) await new Promise((resolve) => setImmediate(resolve));
  for (const answer of answers) answer.end('answered');
  const said = await heard;
  t.equal(worked, 8);
  t.equal(said.split('answered').length - 1, 8, 'what was worked on is answered');
  t.match(said, /HTTP\/1\.1 429 [\s\S]*"rate_limited"[\s\S]*read those, or open another/);
});

t.test('where all answers together are too much to keep, those that keep the most are closed', async (t) => {
  const unread = openUnread(40_000_000);
  const server = createServer(
    unread.bounding(
      (_, response) => response.end(LARGE),
      () => {},
    ),
  );
  unread.watch(server, 60_000);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close().closeAllConnections());
  const closed = new Promise((resolve) =>
    server.on('connection', (socket) => {
      socket.once('close', resolve);
    }),
  );
  for (let number = 0; number < 2; number += 1) {
    void asksAndDoesNotRead((server.address() as AddressInfo).port, GET);
  }
  await closed;
  t.pass('one of two is closed');
});

t.test(
  'one answer that is more than that by itself is had by who reads it slowly: it may have been paid',
  async (t) => {
    mock.timers.enable({ apis: ['setInterval'] });
    t.teardown(() => mock.timers.reset());
    const unread = openUnread(LARGE.length / 4);
    const answers: ServerResponse[] = [];
    const server = createServer(
      unread.bounding(
        (_, response) => void answers.push(response.end(LARGE)),
        () => {},
      ),
    );
    unread.watch(server, 60_000);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const [answer] = await once(get({ host: '127.0.0.1', port }), 'response');
    t.ok((answers[0]?.writableLength ?? 0) > LARGE.length / 4);
    mock.timers.tick(60_000);
    let read = 0;
    for await (const { length } of answer) read += length;
    t.equal(read, LARGE.length);
  },
);
