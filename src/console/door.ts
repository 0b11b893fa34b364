/** What stands between the operator's port and the web: by which name it is asked, from which page, and by whom. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { isOwnName, isPrivateName, nameIn } from '../request/asked-name.ts';
import { ConsoleProblem } from './problem.ts';
import type { Sessions } from './session.ts';

const PATH = '/console';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Sent with everything below `/console`. */
export const safeHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('content-security-policy', CONTENT_SECURITY_POLICY);
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cache-control', 'no-store');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  next();
};

const isOwn = (name: string, adminHost: string): boolean => isOwnName(name) || name === adminHost;

/** A stranger's name may be made to lead here (DNS rebinding), so that a stranger's page is of the same origin: 403. */
export const ownNameOnly =
  (adminHost: string): RequestHandler =>
  ({ headers: { host = '' } }, _response, next) => {
    if (isOwn(nameIn(host), adminHost)) return next();
    throw new ConsoleProblem(403, 'open the console by its IP address, as localhost or by TURNPIKE_ADMIN_HOST');
  };

function bearerIn({ headers: { authorization = '' } }: Request): string | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  return token;
}

/** The same for what machines read without a session: scrapers go by the names of their own network, too. */
export const scrapersOnly =
  (adminHost: string, sessions: Pick<Sessions, 'checkToken'>): RequestHandler =>
  (request, _response, next) => {
    const name = nameIn(request.headers.host ?? '');
    if (isOwn(name, adminHost) || isPrivateName(name)) return next();
    const token = bearerIn(request);
    if (token === undefined) {
      throw new ConsoleProblem(
        403,
        'scrape the gateway by its IP address, as localhost, by TURNPIKE_ADMIN_HOST, by a name of one word or below .internal or .local, or with TURNPIKE_ADMIN_TOKEN as its bearer token',
      );
    }
    sessions.checkToken(token);
    next();
  };

const READS = new Set(['GET', 'HEAD']);

/**
 * A proxy may ask by an address of its own, so the browser's own word counts where there is one: no page can set it, and it
 * is said over TLS and on loopback.
 */
function isElsewhere({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
}

/** No other page's requests, be it on this machine; what changes something is JSON, which no form of a page can send. */
export const samePageOnly: RequestHandler = (request, _response, next) => {
  if (isElsewhere(request.headers)) throw new ConsoleProblem(403, 'another page may not use the console');
  if (!READS.has(request.method) && !/^application\/json(;|$)/.test(request.headers['content-type'] ?? '')) {
    throw new ConsoleProblem(415, 'send JSON, with content-type: application/json');
  }
  next();
};

/** Cookies are shared by all ports of a host. */
const cookieOf = ({ socket }: Request): string => `turnpike-console-${socket.localPort}`;

/** Several, where a page of another port has set a cookie of the same name for a path of ours: it may come first. */
function proofsIn(request: Request): string[] {
  const start = `${cookieOf(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(/; */);
  return cookies.filter((cookie) => cookie.startsWith(start)).map((cookie) => cookie.slice(start.length));
}

/** 401 without a session or the token. */
export const signedInOnly =
  (sessions: Sessions): RequestHandler =>
  (request, _response, next) => {
    const token = bearerIn(request);
    if (token !== undefined) sessions.checkToken(token);
    else if (!proofsIn(request).some(sessions.isOpen)) {
      throw new ConsoleProblem(401, 'sign in with the token that was printed when the gateway started');
    }
    next();
  };

function setCookie(request: Request, response: Response, proof: string, seconds: number): void {
  const { origin, 'x-forwarded-proto': protocol } = request.headers;
  // The browser knows by which way it came, also where a proxy, as HAProxy by itself, does not say so.
  const isSecure = request.secure || protocol === 'https' || origin?.startsWith('https:');
  const terms = ['HttpOnly', 'SameSite=Strict', `Path=${PATH}`, `Max-Age=${seconds}`, ...(isSecure ? ['Secure'] : [])];
  response.setHeader('set-cookie', [`${cookieOf(request)}=${proof}`, ...terms].join('; '));
}

export function signIn(sessions: Sessions, token: string, request: Request, response: Response): void {
  sessions.checkToken(token);
  const { proof, lastsMs } = sessions.open();
  setCookie(request, response, proof, lastsMs / 1_000);
}

export const signOut = (request: Request, response: Response): void => setCookie(request, response, '', 0);
