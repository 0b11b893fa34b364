/** An answer that is wanted whole. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Pool } from 'undici';
import { TimeLimit } from '../../src/outgoing/time-limit.ts';
import { wholeAnswer } from '../../src/outgoing/whole-answer.ts';
import { heapLeftBy } from '../heap.ts';

async function serve(t: Test, answer: RequestListener, connections = 8): Promise<Pool> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections });
  t.teardown(async () => {
    await pool.destroy();
    server.closeAllConnections();
    server.close();
  });
  return pool;
}

const get = { method: 'GET', path: '/' } as const;
const unlimited = () => new TimeLimit(undefined, undefined);

t.test('has the status, the headers and every byte, in however many pieces they come', async (t) => {
  const pool = await serve(t, (_request, response) => {
    response.writeHead(418, { 'X-Kind': 'pot', 'set-cookie': ['a=1', 'b=2'] });
    response.write('short ');
    setImmediate(() => response.end('and stout'));
  });
  const begun: number[] = [];
  const bounds = { maxBytes: 15, limit: unlimited(), began: (status: number) => begun.push(status) };
  const { status, headers, body } = await wholeAnswer(pool, get, bounds);
  t.match({ status, headers }, { status: 418, headers: { 'x-kind': 'pot', 'set-cookie': ['a=1', 'b=2'] } });
  t.equal(body?.toString(), 'short and stout');
  t.same(begun, [418]);
});

t.test('an answer without a body has no bytes', async (t) => {
  const pool = await serve(t, (_request, response) => response.writeHead(204).end());
  const { body } = await wholeAnswer(pool, get, { maxBytes: 0, limit: unlimited() });
  t.equal(body?.length, 0);
});

t.test('what comes before the answer is not the answer', async (t) => {
  const pool = await serve(t, (_request, response) => {
    response.writeProcessing();
    response.end('done');
  });
  const { status, body } = await wholeAnswer(pool, get, { maxBytes: 4, limit: unlimited() });
  t.same([status, body?.toString()], [200, 'done']);
});

t.test('of more bytes than are taken, the rest is not read', async (t) => {
  let isClosed: Promise<unknown> = Promise.resolve();
  const pool = await serve(t, (_request, response) => {
    isClosed = once(response, 'close');
    response.write('12345');
  });
  const { status, body } = await wholeAnswer(pool, get, { maxBytes: 4, limit: unlimited() });
  t.same([status, body], [200, undefined]);
  await isClosed;
});

t.test('an answer that comes byte by byte holds little more than its bytes while it comes', async (t) => {
  const BYTES = 2 ** 18;
  const pool = await serve(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.write('1\r\na\r\n'.repeat(BYTES));
  });
  const given = new AbortController();
  const ending = new TimeLimit(given.signal, undefined);
  let asked: Promise<unknown> = Promise.resolve();
  const left = await heapLeftBy(async () => {
    await new Promise<void>((resolve) => {
      let heard = 0;
      ending.heard = () => {
        heard += 1;
        // The first is its beginning.
        if (heard > BYTES) resolve();
      };
      asked = wholeAnswer(pool, get, { maxBytes: BYTES, limit: ending }).catch(() => undefined);
    });
  });
  t.ok(left < 8 * BYTES, `${left} bytes`);
  given.abort();
  await asked;
});

t.test('an answer of pieces of every length has each byte once, in order', async (t) => {
  const pieces = Array.from({ length: 40 }, (_, at) => Buffer.alloc((at * 37) % 50, at));
  const whole = Buffer.concat(pieces);
  const pool = await serve(t, (_request, response) => {
    for (const piece of pieces) response.write(piece);
    response.end();
  });
  const { body } = await wholeAnswer(pool, get, { maxBytes: whole.length, limit: unlimited() });
  t.same(body, whole);
  t.equal((await wholeAnswer(pool, get, { maxBytes: whole.length - 1, limit: unlimited() })).body, undefined);
});

t.test('a limit ends what has not been asked, what has no answer and what has half of one', async (t) => {
  const pool = await serve(
    t,
    (request, response) => {
      if (request.url === '/half') response.write('half');
    },
    1,
  );
  const ended = async (path: string, limit: TimeLimit) =>
    await wholeAnswer(pool, { ...get, path }, { maxBytes: 99, limit }).then(
      () => 'answered',
      (error: Error) => error.name,
    );
  t.equal(await ended('/', new TimeLimit(AbortSignal.abort(), undefined)), 'AbortError', 'before it begins');
  const holding = new AbortController();
  const held = ended('/', new TimeLimit(holding.signal, undefined));
  t.equal(await ended('/', new TimeLimit(undefined, 20)), 'AbortError', 'while it waits for a connection');
  holding.abort();
  t.equal(await held, 'AbortError', 'while it waits for an answer');
  t.equal(await ended('/half', new TimeLimit(undefined, 50)), 'AbortError', 'in the middle of one');
});

t.test('rejects where the connection breaks off', async (t) => {
  const pool = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 9 });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  await t.rejects(wholeAnswer(pool, get, { maxBytes: 99, limit: unlimited() }));
});
