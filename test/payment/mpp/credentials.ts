import { randomBytes } from 'node:crypto';
import type { HttpAnswer, Quote } from '../../../src/payment/rail.ts';
import type { MppRail } from '../../../src/rails/mpp/rail.ts';
import type { GatewayRequest } from '../../../src/request/request.ts';
import { mppRoute } from './route.ts';

export const secret = 'a secret that is long enough, of 32 bytes or more';
export const realm = 'api.example.com';
export const tempoOptions = {
  rpcUrl: 'http://127.0.0.1:9',
  chainId: 42431,
  currency: '0x20c0000000000000000000000000000000000000',
  recipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
};

export function requestOf(body: string, changes: Partial<GatewayRequest> = {}): GatewayRequest {
  return {
    transport: 'http',
    method: 'POST',
    path: '/mpp/a',
    query: '',
    headers: {},
    body: Buffer.from(body),
    ...changes,
  };
}

export function quoteOf(request: GatewayRequest, price?: string): Quote {
  const route = mppRoute(request.path, price);
  return {
    route,
    amount: route.listing.price,
    networks: route.networks,
    deadlineMs: route.deadlineMs,
    isSecret: false,
    request,
  };
}

/** The 402 for a quote. */
export const answerOf = (rail: MppRail, ...challenge: Parameters<MppRail['challenge']>): HttpAnswer =>
  rail.http.challenge(rail.challenge(...challenge));

/** The `WWW-Authenticate` values of a 402. */
export const challengesOf = (answer: HttpAnswer): string[] => [answer.headers['www-authenticate'] ?? []].flat();

/** The parameters of one of them. */
export function parametersOf(header: string): Record<string, string> {
  const found = header.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value?.replace(/\\(.)/g, '$1')]));
}

export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
export const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());

/** A credential for a challenge whose payload has the right shape and proves nothing. */
export function unprovenCredential(challenge: Record<string, unknown>): string {
  const payload = { type: 'hash', hash: `0x${randomBytes(32).toString('hex')}` };
  return `Payment ${encode({ challenge, payload, somethingNew: true })}`;
}
