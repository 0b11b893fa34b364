/** Strangers who keep connections without using them. */
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { listen } from '../../src/http/server.ts';

const generous = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000, connections: 100 };

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
