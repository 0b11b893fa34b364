/** The same on node:http alone, and a chat that is passed on as it comes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { chat } from '../subject.ts';
import { constant, doubles, fulfil, isPaid, listening } from './bare.ts';

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === chat.path) {
    const headers = { 'content-type': 'application/json' };
    await doubles.stream({ method: 'POST', path: '/chat/completions', body: request, headers }, (upstream) => {
      response.writeHead(upstream.statusCode, { 'content-type': String(upstream.headers['content-type']) });
      return response;
    });
    return;
  }
  if (isPaid(request)) {
    const { status, result } = await fulfil(
      (await json(request)) as object,
      String(request.headers['payment-signature']),
    );
    const body = JSON.stringify(result);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
    return;
  }
  request.resume();
  response.writeHead(402, { ...constant.headers, 'content-length': constant.bytes.length });
  response.end(constant.bytes);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => listening(server));
