/** Lets a wallet in a browser pay, on every rail. */
import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { isMcpPath } from '../paths.ts';
import { rails } from '../rails/index.ts';
import { PROOF_HEADER } from './purchases.ts';

/** Names as one header, each once. */
const list = (names: readonly string[]): string => [...new Set(names)].join(', ');

const EXPOSED = list([
  ...rails.flatMap(({ browserHeaders }) => browserHeaders.response),
  'Idempotency-Replayed',
  'Retry-After',
  'X-Should-Retry',
  'Request-Id',
  'X-Request-Id',
  'Turnpike-Mode',
  'Turnpike-Quoted',
  'Turnpike-Charged',
]);

const ALLOWED = list([
  'Content-Type',
  ...rails.flatMap(({ browserHeaders }) => browserHeaders.request),
  PROOF_HEADER,
  // API keys.
  'Authorization',
  'Idempotency-Key',
  // Some clients send this one as a request header.
  'Access-Control-Expose-Headers',
]);

export function allowOrigins(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', EXPOSED);
}

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?: *, *[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Under `/v1` and at `/mcp` whatever is asked for: SDKs for OpenAI's API send headers about themselves, other ones with
 * every version, and so does the Model Context Protocol. No cookie counts here.
 */
function allowedFor({ path, headers }: Request): string {
  const asked = headers['access-control-request-headers'] ?? '';
  return (path.startsWith('/v1/') || isMcpPath(path)) && HEADER_NAMES.test(asked) ? `${ALLOWED}, ${asked}` : ALLOWED;
}

export function cors(request: Request, response: Response, next: NextFunction): void {
  allowOrigins(response);
  if (request.method !== 'OPTIONS') {
    next();
    return;
  }
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
  response.setHeader('access-control-allow-headers', allowedFor(request));
  response.setHeader('vary', 'Access-Control-Request-Headers');
  response.setHeader('access-control-max-age', '86400');
  response.status(204).end();
}
