/** The server of `npm start`: the router in an application of its own, and a short way to what is sold. */
import { createServer, type RequestListener, type Server } from 'node:http';
import express, { type Express } from 'express';
import { allowOrigins } from './cors.ts';
import { answerProblem, commonHeaders, createGatewayRouter, type RouterParts, refuseWhileDraining } from './express.ts';
import { render } from './render.ts';
import { incomingRequest, send, splitUrl } from './transport.ts';

/** The router, and a 404 for everything else. */
function createApplication(parts: RouterParts): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(createGatewayRouter(parts));
  application.use(commonHeaders(parts), refuseWhileDraining(parts));
  application.use(async (request, response) => {
    const { path, query } = splitUrl(request.url);
    const outcome = await parts.lifecycle.answer(incomingRequest(request, path, query));
    send(response, render(outcome, parts.rails));
  });
  application.use(answerProblem);
  return application;
}

/**
 * What is sold, method and path exactly, is answered before Express sees it: Express gives request and response other
 * prototypes, which costs more than all the rest of a 402. The same bytes come of it either way.
 */
export function createListener(parts: RouterParts): RequestListener {
  const application = createApplication(parts);
  const { lifecycle, routes, rails, headers } = parts;
  return (request, response) => {
    const { path, query } = splitUrl(request.url ?? '/');
    if (parts.draining() || !routes.sells(request.method ?? 'GET', path)) {
      application(request, response);
      return;
    }
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    allowOrigins(response);
    lifecycle
      .answer(incomingRequest(request, path, query))
      .then((outcome) => send(response, render(outcome, rails)))
      .catch(() => response.destroy());
  };
}

/** Listens. Rejects when the address cannot be had. */
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
