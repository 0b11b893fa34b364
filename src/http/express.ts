/**
 * The gateway as a genuine Express router: everything that is sold, the documents that say what that is, and the files
 * that were bought. Mounted by `npm start`, or in an application of the operator's own, before any body parser.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import type { Document } from '../discovery/document.ts';
import { draining as drainingProblem, Problem, takesOnly } from '../errors.ts';
import type { RouteFinder } from '../lifecycle/find.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import type { Log } from '../log.ts';
import { CHAT_PATH, CREDITS_PATH, isMcpPath, MCP_PATH, MODELS_PATH, PURCHASES_PATH, REFUNDS_PATH } from '../paths.ts';
import type { Rail } from '../payment/rail.ts';
import type { Readiness } from '../readiness.ts';
import type { Ended } from '../request/visit.ts';
import type { Storefront } from '../storefront/index.tsx';
import type { ApiKeyRouter } from './api-keys/router.ts';
import type { ClientOf } from './client-address.ts';
import { cors } from './cors.ts';
import { type ServedFile, sendDocument, sendFile } from './files.ts';
import { answerSold } from './live.ts';
import { problemAnswer } from './render.ts';
import { send, splitUrl } from './transport.ts';
import { beginVisit, hasVisit, keepVisit, visitOf } from './visits.ts';

export interface RouterParts {
  readonly lifecycle: Pick<Lifecycle, 'answer'>;
  readonly routes: RouteFinder;
  readonly rails: ReadonlyMap<string, Rail>;
  /** Path -> document. */
  readonly documents: ReadonlyMap<string, Document>;
  /** That the process lives, and what it sells. */
  readonly health: () => object;
  /** Whether it may be sent calls. */
  readonly readiness: () => Readiness;
  /** What people see who open the gateway in a browser. */
  readonly storefront: Storefront;
  /** Undefined where media lives elsewhere. */
  readonly media: ((name: string) => ServedFile | undefined) | undefined;
  /** Sent with every answer: `turnpike-mode`, and that browsers must not guess types. */
  readonly headers: Readonly<Record<string, string>>;
  /** Routes that only this mode has, mounted at `/sandbox`. */
  readonly extra: Router | undefined;
  /** Calls that are paid for with API keys. */
  readonly apiKeys: Pick<ApiKeyRouter, 'router' | 'complete'>;
  /** What a payer bought, for who proves to be that payer. */
  readonly purchases: Router;
  /** Where payers ask for their money; undefined: nowhere. */
  readonly refunds: Router | undefined;
  /** What rails answer at paths of their own. */
  readonly railPaths: Router;
  /** The Model Context Protocol; undefined where it is not spoken. */
  readonly mcp: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
  readonly log: Log;
  /** Writes down what was asked and what came of it. */
  readonly ended: Ended;
  /** Whom a request is counted to. */
  readonly clientOf: ClientOf;
  /** True while shutting down: what comes now is sent away. */
  draining(): boolean;
}

const OWN_PREFIXES = ['/media/', '/v1/'];

/** By which the gateway is asked for something that is neither sold nor a document. */
const OWN_PATHS = new Set(['/healthz', '/readyz', CHAT_PATH, MODELS_PATH, CREDITS_PATH, PURCHASES_PATH, REFUNDS_PATH]);

/** What the gateway answers for; everything else is left to whoever mounted it. */
function answersFor(path: string, { routes, documents, extra, storefront }: RouterParts): boolean {
  if (routes.has(path) || documents.has(path) || OWN_PATHS.has(path) || storefront.answersFor(path)) return true;
  if (isMcpPath(path)) return true;
  if (extra && (path === '/sandbox' || path.startsWith('/sandbox/'))) return true;
  return OWN_PREFIXES.some((prefix) => path.startsWith(prefix));
}

const isRailsOwn = (path: string, rails: RouterParts['rails']): boolean =>
  [...rails.values()].some(({ ownPath }) => ownPath?.path === path);

/** What stands in the log for a path that is not a sold one: its own kind, and nothing that a stranger made up. */
export function kindOf(path: string, { routes, rails, documents, extra, storefront }: RouterParts): string {
  if (documents.has(path) || OWN_PATHS.has(path)) return path;
  if (isMcpPath(path)) return MCP_PATH;
  const sold = routes.idOf(path);
  if (sold !== undefined) return sold;
  if (isRailsOwn(path, rails)) return path;
  if (path.startsWith(`${MODELS_PATH}/`)) return MODELS_PATH;
  if (path.startsWith(`${PURCHASES_PATH}/`)) return PURCHASES_PATH;
  if (path.startsWith('/media/')) return '/media';
  if (path === '/' || storefront.answersFor(path)) return '/storefront';
  return extra && (path === '/sandbox' || path.startsWith('/sandbox/')) ? '/sandbox' : 'unsold';
}

export function createGatewayRouter(parts: RouterParts): Router {
  const router = express.Router();
  router.use((request, _response, next) => next(answersFor(request.path, parts) ? undefined : 'router'));
  router.use((request, response, next) => {
    // A server of the gateway's own has begun it already.
    if (!hasVisit(response)) {
      const visit = keepVisit(response, beginVisit(request, response, parts));
      visit.route = kindOf(request.path, parts);
    }
    next();
  });
  router.use(commonHeaders(parts), refuseManyHeaders);
  if (parts.extra) router.use('/sandbox', parts.extra);

  router.get('/healthz', (_request, response) => sendProbe(response, 200, parts.health()));
  router.get('/readyz', (_request, response) => {
    const { ok, body } = parts.readiness();
    sendProbe(response, ok ? 200 : 503, body);
  });
  for (const [path, document] of parts.documents) {
    router.get(path, (request, response) => sendDocument(document, request, response));
  }
  router.use(parts.storefront.router);
  router.get('/media/:name', async (request, response) => {
    const file = parts.media?.(request.params.name);
    if (!file) throw new Problem('unknown_path', 'No file of that name is kept here');
    await sendFile(file, request, response);
  });
  router.all(['/healthz', '/readyz', '/media/:name', ...parts.documents.keys()], () => {
    throw takesOnly('GET');
  });

  router.use(refuseWhileDraining(parts));
  if (parts.refunds) router.use(parts.refunds);
  router.use(parts.railPaths, parts.purchases, parts.apiKeys.router);
  router.all(MCP_PATH, async (request, response, next) => (parts.mcp ? await parts.mcp(request, response) : next()));
  router.use((request, response) => answerSold(parts, request, response, visitOf(response)));
  router.use(answerProblem(parts));
  return router;
}

function sendProbe(response: ServerResponse, status: number, body: object): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  send(response, { status, headers, body: JSON.stringify(body) });
}

/** What every answer carries, and what lets a wallet in a browser pay. Answers `OPTIONS`. */
export const commonHeaders =
  ({ headers }: Pick<RouterParts, 'headers'>): RequestHandler =>
  (request, response, next) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    cors(request, response, next);
  };

export const refuseWhileDraining =
  ({ draining }: Pick<RouterParts, 'draining'>): RequestHandler =>
  (_request, _response, next) => {
    if (!draining()) return next();
    throw drainingProblem();
  };

/** Node drops what is beyond its own limit without a word, and a payment may be among it. */
const MOST_HEADERS = 100;

/** Names and values of a request's headers, each counted. */
export const hasManyHeaders = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean =>
  rawHeaders.length > MOST_HEADERS * 2;

const refuseManyHeaders: RequestHandler = (request, _response, next) => {
  if (!hasManyHeaders(request)) return next();
  throw new Problem('too_many_headers', undefined, { headers: { connection: 'close' } });
};

/** Express's own errors (an undecodable path) say nothing that a caller needs. */
export const answerProblem =
  ({ log, storefront }: Pick<RouterParts, 'log' | 'storefront'>): ErrorRequestHandler =>
  (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const { requestId } = visitOf(response);
    const problem = error instanceof URIError ? new Problem('unknown_path') : error;
    if (!(problem instanceof Problem)) {
      const { path } = splitUrl(request.url);
      log.error({ requestId, path: path.slice(0, 200), err: error }, 'request failed in the gateway');
    }
    const { status, headers, body } = problemAnswer(problem, requestId);
    const page = storefront.pageInPlaceOf(request, status);
    send(response, {
      status,
      headers: { ...headers, ...page?.headers, 'request-id': requestId },
      body: page?.body ?? body,
    });
  };
