/** What rails answer at paths of their own. */
import express, { type Router } from 'express';
import { takesOnly } from '../errors.ts';
import type { Limits } from '../limits/limits.ts';
import type { Rail } from '../payment/rail.ts';
import type { ClientOf } from './client-address.ts';
import { send, splitUrl } from './transport.ts';
import { visitOf } from './visits.ts';

/** Problems are passed on. */
export function createRailPathsRouter(
  rails: ReadonlyMap<string, Rail>,
  { limits, clientOf }: { readonly limits: Pick<Limits, 'gate'>; readonly clientOf: ClientOf },
): Router {
  const router = express.Router();
  for (const { ownPath } of rails.values()) {
    if (!ownPath) continue;
    router.get(ownPath.path, async (request, response) => {
      response.setHeader('request-id', visitOf(response).requestId);
      const { path, query } = splitUrl(request.url);
      const { headers } = request;
      const asked = { transport: 'http', method: 'GET', path, query, headers, body: Buffer.alloc(0) } as const;
      const gate = limits.gate(clientOf(request));
      try {
        send(response, await ownPath.answer(asked, gate));
      } finally {
        gate.over();
      }
    });
    router.all(ownPath.path, () => {
      throw takesOnly('GET');
    });
  }
  return router;
}
