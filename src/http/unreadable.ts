/** Answers to what Node's HTTP parser refuses before any listener hears of it, in the shape of all other problems. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '../errors.ts';
import { problemAnswer } from './render.ts';
import { send } from './transport.ts';

const CLOSED = { headers: { connection: 'close' } };

const withoutHost = () => new Problem('unreadable_request', 'An HTTP/1.1 request has to have a Host header', CLOSED);

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('too_many_headers', 'The headers are larger than 16 KB together', CLOSED);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('body_too_large', 'The extensions of the chunks are larger than 16 KB', CLOSED);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', undefined, CLOSED);
    default:
      return new Problem('unreadable_request', undefined, CLOSED);
  }
}

function answerOf(problem: Problem) {
  const requestId = randomUUID();
  const { status, headers, body } = problemAnswer(problem, requestId);
  return { status, headers: { ...headers, 'request-id': requestId }, body };
}

/** Writes the answer where there is no response to write it with, and closes. */
function writeAnswer(socket: Duplex, problem: Problem): void {
  const { status, headers, body } = answerOf(problem);
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  // Who leaves before the answer misses nothing that anybody has to know.
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

export const answerWithProblem = (response: ServerResponse, problem: Problem): void =>
  send(response, answerOf(problem));

/** RFC 9112, 3.2: no request of version 1.1 is without a host, although nothing here depends on it. */
export const refuseWithoutHost =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') listener(request, response);
    else answerWithProblem(response, withoutHost());
  };

/**
 * To be called once for a server. Requests that came whole before an unreadable one on the same connection keep their
 * answers: only then it is closed.
 */
export function answerUnreadable(server: Server, listener: RequestListener): void {
  const latest = new WeakMap<Duplex, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  const closing = new WeakSet<Duplex>();
  server.on('request', (request, response) => latest.set(request.socket, { request, response }));
  // Whatever else is expected than 100-continue: the request is answered as if nothing was (RFC 9110, 10.1.1).
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket) => {
    writeAnswer(socket, new Problem('method_not_allowed', 'This is no proxy: CONNECT is not taken', CLOSED));
  });
  server.on('clientError', (error, socket) => {
    if (closing.has(socket)) return;
    closing.add(socket);
    const { request, response } = latest.get(socket) ?? {};
    if (!socket.writable) socket.destroy();
    else if (!request || !response || (request.complete && response.writableFinished))
      writeAnswer(socket, problemOf(error));
    else if (response.writableFinished) socket.destroy();
    else if (request.complete) response.once('close', () => socket.destroy());
    else if (request.listenerCount('error') > 0) {
      // Who reads the body answers with this.
      response.once('close', () => socket.destroy());
      request.emit('error', problemOf(error));
    } else writeAnswer(socket, problemOf(error));
  });
}
