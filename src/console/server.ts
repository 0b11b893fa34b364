/**
 * The operator's own port: the console behind its token, and, for machines, `GET /metrics` and the two probes. What is
 * earned and lost is nobody else's business.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { Problem } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { originOf } from '../origin.ts';
import type { Readiness } from '../readiness.ts';
import { consoleApi } from './api.ts';
import { ownNameOnly, safeHeaders, samePageOnly, scrapersOnly } from './door.ts';
import { pageFiles } from './page-files.ts';
import type { ConsoleParts } from './parts.ts';
import { ConsoleProblem } from './problem.ts';
import { openSessions } from './session.ts';

/** What the port tells of: one process, or all that answer for a gateway. */
export interface Operated {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly console: ConsoleParts;
  health(): object | Promise<object>;
  readiness(): Readiness | Promise<Readiness>;
}

interface Served extends Operated {
  readonly log: Pick<Log, 'error'>;
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

function sendText(response: Response, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}

const sendProbe = (response: Response, status: number, value: object): void =>
  sendText(response, status, 'application/json; charset=utf-8', JSON.stringify(value));

const onlyRead: RequestHandler = (_request, response) => {
  response.writeHead(405, { allow: 'GET, HEAD' }).end();
};

const notFound: RequestHandler = (_request, response) => {
  response.writeHead(404).end();
};

const OWN_FAULT = new ConsoleProblem(500, 'the gateway could not answer: its log says why');

/** Undefined: a fault of the gateway's own. */
function problemOf(error: unknown): ConsoleProblem | undefined {
  if (error instanceof ConsoleProblem) return error;
  if (error instanceof Problem) return new ConsoleProblem(error.status, error.message);
  // Express's own, of a body or a path.
  const isUnreadable = error instanceof Error && 'status' in error && Number(error.status) < 500;
  return isUnreadable
    ? new ConsoleProblem(400, 'the request cannot be read: send a JSON object of 16 KB at most')
    : undefined;
}

/** Faults of the gateway's own are told in the log alone. */
const answerFault =
  ({ log }: Pick<Served, 'log'>): ErrorRequestHandler =>
  (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const problem = problemOf(error);
    if (!problem) log.error({ path: request.path.slice(0, 200), err: error }, 'the console could not answer');
    const { status, message, field } = problem ?? OWN_FAULT;
    response.status(status).json({ error: message, ...(field !== undefined && { field }) });
  };

function application({ metrics, console, log, health, readiness }: Served, { host, token }: Address): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Wrong tokens are counted apart from the console's: no page can keep the operator out.
  app.get('/metrics', scrapersOnly(host, openSessions(token, Date.now)), async (_request, response) =>
    sendText(response, 200, metrics.contentType, await metrics.text()),
  );
  app.get('/healthz', async (_request, response) => sendProbe(response, 200, await health()));
  app.get('/readyz', async (_request, response) => {
    const { ok, body } = await readiness();
    sendProbe(response, ok ? 200 : 503, body);
  });
  app.all(['/metrics', '/healthz', '/readyz'], onlyRead);
  // Whoever opens the port in a browser looks for the console.
  app.get('/', (_request, response) => response.redirect(308, '/console'));
  const sessions = openSessions(token, Date.now);
  app.use('/console', safeHeaders, ownNameOnly(host));
  app.use('/console/api', samePageOnly, consoleApi(console, sessions));
  app.use('/console', pageFiles());
  app.use(notFound);
  app.use(answerFault({ log }));
  return app;
}

/** As a browser on the same machine opens it. */
export function consoleUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `${originOf(address, port)}/console`;
}

/** Listens. Rejects when the address cannot be had. */
export async function serveAdmin(served: Served, address: Address): Promise<Server> {
  const server = createServer(application(served, address));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return server;
}
