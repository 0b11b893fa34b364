/** Lets a wallet in a browser pay on both rails. */
import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const EXPOSED = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'WWW-Authenticate',
  'Payment-Receipt',
  'Idempotency-Replayed',
  'Retry-After',
  'Request-Id',
  'Turnpike-Mode',
  'Turnpike-Quoted',
  'Turnpike-Charged',
].join(', ');

const ALLOWED = [
  'Content-Type',
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'Authorization',
  'Accept-Payment',
  'Idempotency-Key',
  // Some clients send this one as a request header.
  'Access-Control-Expose-Headers',
].join(', ');

export function allowOrigins(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', EXPOSED);
}

export function cors(request: Request, response: Response, next: NextFunction): void {
  allowOrigins(response);
  if (request.method !== 'OPTIONS') {
    next();
    return;
  }
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
  response.setHeader('access-control-allow-headers', ALLOWED);
  response.setHeader('access-control-max-age', '86400');
  response.status(204).end();
}
