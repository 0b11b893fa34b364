/** Between Node's HTTP and the lifecycle: a request in, an answer out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingRequest } from '../lifecycle/lifecycle.ts';
import type { HttpAnswer } from '../payment/rail.ts';
import { readRawBody } from './body.ts';

/** What keeps proxies such as nginx from holding back an answer that streams. */
export const UNBUFFERED = { 'x-accel-buffering': 'no' } as const;

/**
 * `url` as it stands in the request line, or below the point at which a router is mounted. The absolute form, which a
 * proxy may send (RFC 9112, 3.2.2), means its path: the origin is known.
 */
export function splitUrl(url: string): { readonly path: string; readonly query: string } {
  return url.startsWith('/') ? splitPath(url) : splitPath(url.replace(/^https?:\/\/[^/?#]*/i, '') || '/');
}

function splitPath(url: string): { readonly path: string; readonly query: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

export const incomingRequest = (
  message: IncomingMessage,
  { path, query }: ReturnType<typeof splitUrl>,
  { live, visit }: Pick<IncomingRequest, 'live' | 'visit'>,
): IncomingRequest => ({
  transport: 'http',
  method: message.method ?? 'GET',
  path,
  query,
  headers: headersOf(message),
  readBody: (limitBytes) => readRawBody(message, limitBytes),
  live,
  visit,
});

/**
 * Node keeps the first of several `Authorization` lines; a rail has to see that there were several. `headersDistinct` is
 * made when it is asked for.
 */
function headersOf(message: IncomingMessage): IncomingRequest['headers'] {
  const { headers } = message;
  if (headers.authorization === undefined) return headers;
  return { ...headers, authorization: message.headersDistinct.authorization };
}

export function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}
