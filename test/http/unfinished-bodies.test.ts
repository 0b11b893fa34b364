/** Bodies that nobody works on yet, from many at a time. */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t from 'tap';
import { Problem } from '../../src/errors.ts';
import { readRawBody } from '../../src/http/body.ts';

const MOST = 1_000_000;
/** Two are kept together, however they come; three are not. */
const LARGE = 'x'.repeat(400_000);

let arrived = 0;

const server = createServer((request, response) => {
  request.on('data', ({ length }: Buffer) => {
    arrived += length;
  });
  readRawBody(request, 5_000_000, MOST).then(
    (body) => response.end(`${body.length} bytes`),
    (error: unknown) =>
      response.writeHead(error instanceof Problem ? error.status : 500, { connection: 'close' }).end(),
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => server.close().closeAllConnections());
const { port } = server.address() as AddressInfo;

const post = async (body: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
  return `${answer.status} ${await answer.text()}`;
};

t.test('what many keep unfinished is bounded in all, and small bodies are taken all the same', async (t) => {
  const held = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const socket of held) {
    socket.on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGE.length + 1}\r\n\r\n${LARGE}`);
  }
  while (arrived < held.length * LARGE.length) await new Promise((resolve) => setImmediate(resolve));
  t.equal(await post(LARGE), '429 ');
  t.equal(await post('small'), '200 5 bytes');
  const left = held.map((socket) => once(socket.destroy(), 'close'));
  await Promise.all(left);
  while ((await post(LARGE)) !== `200 ${LARGE.length} bytes`);
  t.pass('those who left keep nothing');
});

t.test('so is what has come whole and waits for its turn', async (t) => {
  const come = (body: string) => {
    const request = Object.assign(new EventEmitter(), { headers: {} });
    const read = readRawBody(request as IncomingMessage, 5_000_000, MOST);
    request.emit('data', Buffer.from(body));
    request.emit('end');
    return read;
  };
  const waiting = [come(LARGE), come(LARGE), come(LARGE)];
  await t.rejects(come(LARGE), { code: 'rate_limited' });
  t.equal((await come('small')).length, 5);
  await Promise.all(waiting);
  t.equal((await come(LARGE)).length, LARGE.length);
});
