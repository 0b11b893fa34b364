/** A facilitator that finds every payment good, a chain's node, and an upstream that always answers the same. All at once. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accepted, completion, SLOW_QUESTION, streamed } from '../subject.ts';

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

function send(response: ServerResponse, path: string): void {
  const body = answers[path];
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body ?? ''),
  });
  response.end(body);
}

/** Who waits for the end of a slow stream before passing its beginning on is late by this much. */
const STREAM_PAUSE_MS = 30;

function stream(response: ServerResponse, isSlow: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(streamed.first);
  if (isSlow) setTimeout(() => response.end(streamed.rest), STREAM_PAUSE_MS);
  else response.end(streamed.rest);
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  let isStream = false;
  let isSlow = false;
  request.on('data', (bytes: Buffer) => {
    isStream ||= bytes.includes('"stream":true');
    isSlow ||= bytes.includes(SLOW_QUESTION);
  });
  request.once('end', () => (isStream ? stream(response, isSlow) : send(response, request.url ?? '/')));
}

const server = createServer(answer);
// Longer than a row: a connection that is closed between two requests would count as a failure.
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
