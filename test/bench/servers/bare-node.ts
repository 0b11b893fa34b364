/** The same on node:http alone. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { constant, fulfil, isPaid, listening } from './bare.ts';

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (isPaid(request)) {
    const { status, result } = await fulfil((await json(request)) as object);
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
