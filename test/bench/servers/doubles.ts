/**
 * A facilitator that finds every payment good, a chain's node, and an upstream that always answers the same. All at once,
 * and on bare sockets: whatever they took of the machine's time would be missing to the servers that call them.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { accepted, completion, SLOW_QUESTION, streamed } from '../subject.ts';
import { lengthOfFirst } from '../wire.ts';

const PAYER = '0x857b06519E91e3A54538791bDbb0E22373e36b66';

const answers: Readonly<Record<string, string>> = {
  '/supported': JSON.stringify({
    kinds: [
      { x402Version: 2, scheme: 'exact', network: accepted.network },
      { x402Version: 1, scheme: 'exact', network: 'base' },
    ],
    extensions: [],
    signers: {},
  }),
  // Asked by @faremeter/middleware: the requirements with what the facilitator adds to them.
  '/accepts': JSON.stringify({ x402Version: 2, resource: { url: '' }, accepts: [accepted] }),
  '/verify': JSON.stringify({ isValid: true, payer: PAYER }),
  '/settle': JSON.stringify({
    success: true,
    transaction: `0x${'5e'.repeat(32)}`,
    network: accepted.network,
  }),
  // The chain's node: no payer has code.
  '/rpc': JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x' }),
  '/chat/completions': completion,
};

const whole = (status: string, body: string): Buffer =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
const prepared = new Map(Object.entries(answers).map(([path, body]) => [path, whole('200 OK', body)]));
const unknown = whole('404 Not Found', '');

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const begun = Buffer.from(STREAM_HEAD + chunk(streamed.first));
const ended = Buffer.from(`${chunk(streamed.rest)}0\r\n\r\n`);

/** Who waits for the end of a slow stream before passing its beginning on is late by this much. */
const STREAM_PAUSE_MS = 30;

function stream(socket: Socket, isSlow: boolean): void {
  socket.write(begun);
  if (isSlow) setTimeout(() => socket.write(ended), STREAM_PAUSE_MS);
  else socket.write(ended);
}

function answer(socket: Socket, request: Buffer): void {
  if (request.includes('"stream":true')) {
    stream(socket, request.includes(SLOW_QUESTION));
    return;
  }
  const [, path = ''] = request.toString('latin1', 0, request.indexOf('\r\n')).split(' ');
  socket.write(prepared.get(path) ?? unknown);
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
    for (let length = lengthOfFirst(waiting); length !== undefined; length = lengthOfFirst(waiting)) {
      answer(socket, waiting.subarray(0, length));
      waiting = waiting.subarray(length);
    }
  });
  // Whoever breaks off has had all it wanted.
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
