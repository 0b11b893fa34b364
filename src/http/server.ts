/** The server of `npm start`: the router in an application of its own, and a short way to what is sold. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import express, { type Express } from 'express';
import { CHAT_PATH, isMcpPath, MCP_PATH } from '../paths.ts';
import { allowOrigins } from './cors.ts';
import {
  answerProblem,
  commonHeaders,
  createGatewayRouter,
  hasManyHeaders,
  kindOf,
  type RouterParts,
  refuseWhileDraining,
} from './express.ts';
import { answerSold } from './live.ts';
import { splitUrl } from './transport.ts';
import { openUnread } from './unread.ts';
import { answerUnreadable, answerWithProblem, refuseWithoutHost } from './unreadable.ts';
import { beginVisit, keepVisit, visitOf } from './visits.ts';

/** The router, and a 404 for everything else. */
function createApplication(parts: RouterParts): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(createGatewayRouter(parts));
  // Where the gateway is mounted beside other things, `/` is theirs.
  application.get('/', commonHeaders(parts), refuseWhileDraining(parts), parts.storefront.front);
  application.use(commonHeaders(parts), refuseWhileDraining(parts));
  application.use((request, response) => answerSold(parts, request, response, visitOf(response)));
  application.use(answerProblem(parts));
  return application;
}

/**
 * What is sold, method and path exactly, is answered before Express sees it: Express gives request and response other
 * prototypes, which costs more than all the rest of a 402. The same bytes come of it either way.
 */
export function createListener(parts: RouterParts): RequestListener {
  const application = createApplication(parts);
  const { routes } = parts;
  const common = Object.entries(parts.headers);
  return (request, response) => {
    const { path, query } = splitUrl(request.url ?? '/');
    // Express leaves an origin without a path to its own page of errors.
    if (path === '/' && query === '') request.url = '/';
    const isPost = request.method === 'POST';
    const isTool = isMcpPath(path) && isPost && parts.mcp !== undefined;
    const isChat = path === CHAT_PATH && isPost;
    const isSold = isTool || isChat || routes.sells(request.method ?? 'GET', path);
    const visit = beginVisit(request, response, parts);
    if (parts.draining() || !isSold || hasManyHeaders(request)) {
      keepVisit(response, visit).route = kindOf(path, parts);
      application(request, response);
      return;
    }
    for (const [name, value] of common) response.setHeader(name, value);
    allowOrigins(response);
    if (isTool) {
      keepVisit(response, visit).route = MCP_PATH;
      parts.mcp?.(request, response).catch(() => response.destroy());
      return;
    }
    if (isChat) {
      keepVisit(response, visit).route = path;
      parts.apiKeys.complete(request, response).catch(() => response.destroy());
      return;
    }
    answerSold(parts, request, response, visit).catch(() => response.destroy());
  };
}

/** How long a stranger may keep a connection without saying anything, in milliseconds, and how many there may be. */
export interface ConnectionLimits {
  /** For all headers of a request. */
  readonly headersMs: number;
  /** For a request with its body. */
  readonly requestMs: number;
  /** Between two requests: longer than the proxies' that stand in front, or they meet connections that are just closing. */
  readonly idleMs: number;
  /** At a time; more are closed at once. */
  readonly connections: number;
  /** For an answer of which nothing is read. */
  readonly unreadMs: number;
}

/** For the open internet: the largest body in a minute is what a bad mobile network does. */
const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 15_000,
  requestMs: 60_000,
  idleMs: 75_000,
  connections: 10_000,
  unreadMs: 60_000,
};

/** Listens. Rejects when the address cannot be had. */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Promise<Server> {
  const unread = openUnread();
  const answering = unread.bounding(refuseWithoutHost(listener), answerWithProblem);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.ceil(limits.headersMs / 5),
      requireHostHeader: false,
    },
    answering,
  );
  answerUnreadable(server, answering);
  unread.watch(server, limits.unreadMs);
  // Counted by the router, which says so; the size of all of them together is Node's to bound (16 KB).
  server.maxHeadersCount = 0;
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/**
 * Takes no more connections. Those there are may be used once more, and their answers say that it was the last time:
 * a connection that is closed while nothing is under way may meet the next request, which is lost then.
 */
export function lastUse(server: Server): void {
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  // The `close` of HTTP servers closes idle connections at once.
  TcpServer.prototype.close.call(server);
}

/** Connections on which nothing was asked yet, such as browsers open ahead of time: Node takes them for busy. */
export function silentConnections(server: Server): { close(): void } {
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  return {
    close() {
      for (const socket of silent) socket.destroy();
    },
  };
}
