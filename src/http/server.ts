/** The HTTP server: free routes first, then everything that is sold. */
import { createReadStream } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { Document } from '../discovery/document.ts';
import { Problem } from '../errors.ts';
import type { Answer } from '../payment/rail.ts';
import { allowOrigins, cors } from './cors.ts';
import type { createHandler } from './handler.ts';
import { problemAnswer } from './problem.ts';

/** A file of the media store. */
export interface ServedFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
}

export interface ServerParts {
  readonly paid: Pick<ReturnType<typeof createHandler>, 'answer'>;
  /** Whether something is sold at a path. */
  sells(path: string): boolean;
  /** Path -> document. */
  readonly documents: ReadonlyMap<string, Document>;
  readonly health: () => { readonly ok: boolean; readonly body: object };
  /** Undefined where media lives elsewhere. */
  readonly media: ((name: string) => ServedFile | undefined) | undefined;
  /** Sent with every answer: `turnpike-mode`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Routes that only this mode has, mounted at `/sandbox`. */
  readonly extra: express.Router | undefined;
  /** The API-key door. */
  readonly door: express.Router;
  /** True while shutting down: what comes now is sent away. */
  draining(): boolean;
}

const YEAR_SECONDS = 31_536_000;

function send(response: ServerResponse, answer: Answer): void {
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.setHeader('content-length', Buffer.byteLength(answer.body));
  response.end(answer.body);
}

function sendDocument(document: Document, request: Request, response: Response): void {
  response.setHeader('etag', document.etag);
  response.setHeader('cache-control', 'public, max-age=60');
  if (request.headers['if-none-match'] === document.etag) {
    response.status(304).end();
    return;
  }
  response.setHeader('content-type', document.type);
  response.setHeader('content-length', document.body.length);
  response.end(request.method === 'HEAD' ? undefined : document.body);
}

/** Media is named by its content, so it can be kept for as long as anybody likes. */
function sendFile(file: ServedFile, request: Request, response: Response): void {
  response.setHeader('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`);
  response.setHeader('content-type', file.type);
  response.setHeader('accept-ranges', 'bytes');
  const [range] = request.range(file.size, { combine: true }) === -1 ? [undefined] : rangesOf(request, file.size);
  if (range) {
    response.status(206).setHeader('content-range', `bytes ${range.start}-${range.end}/${file.size}`);
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  response.setHeader('content-length', end - start + 1);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // Closes the file, too, when the caller leaves; whichever side failed, no answer is left to give.
  pipeline(createReadStream(file.path, { start, end }), response, () => {});
}

function rangesOf(request: Request, size: number): readonly { start: number; end: number }[] {
  const ranges = request.range(size, { combine: true });
  return Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges : [];
}

/**
 * What is sold is answered before Express sees it: Express gives request and response other prototypes, which costs
 * more than all the rest of a 402.
 */
export function createListener(parts: ServerParts): RequestListener {
  const application = createApplication(parts);
  return (request, response) => {
    const { method, url = '/' } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (method === 'OPTIONS' || parts.draining() || !parts.sells(path)) {
      application(request, response);
      return;
    }
    for (const [name, value] of Object.entries(parts.headers)) response.setHeader(name, value);
    allowOrigins(response);
    parts.paid
      .answer(request, path, query < 0 ? '' : url.slice(query + 1))
      .then((answer) => send(response, answer))
      .catch(() => response.destroy());
  };
}

function createApplication(parts: ServerParts): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');

  application.use((request, response, next) => {
    for (const [name, value] of Object.entries(parts.headers)) response.setHeader(name, value);
    cors(request, response, next);
  });
  if (parts.extra) application.use('/sandbox', parts.extra);

  application.get('/healthz', (_request, response) => {
    const { ok, body } = parts.health();
    response.status(ok ? 200 : 503).json(body);
  });
  for (const [path, document] of parts.documents) {
    application.get(path, (request, response) => sendDocument(document, request, response));
  }
  application.get('/media/:name', (request, response) => {
    const file = parts.media?.(request.params.name);
    if (!file) throw new Problem('unknown_path', 'No file of that name is kept here');
    sendFile(file, request, response);
  });

  application.use((_request, _response, next) => {
    if (!parts.draining()) return next();
    throw new Problem('draining', undefined, { headers: { 'retry-after': '5', connection: 'close' } });
  });
  application.use(parts.door);

  application.use(async (request, response) => {
    const query = request.url.indexOf('?');
    const path = query < 0 ? request.url : request.url.slice(0, query);
    send(response, await parts.paid.answer(request, path, query < 0 ? '' : request.url.slice(query + 1)));
  });
  const failed: ErrorRequestHandler = (error, _request, response, next) => {
    if (response.headersSent) next(error);
    // Express's own errors (an undecodable path) say nothing that a caller needs.
    else send(response, problemAnswer(error instanceof URIError ? new Problem('unknown_path') : error, ''));
  };
  application.use(failed);
  return application;
}

/** Listens, and answers how to stop: no new requests, then whatever is under way gets its time. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer(listener);
  // Proofs may be 8 KB; the rest of a request's headers has to fit beside one.
  server.maxHeadersCount = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
