/** What rails answer at paths of their own. */
import express, { type Router } from 'express';
import { takesOnly } from '../errors.ts';
import type { Limits } from '../limits/limits.ts';
import type { Rail } from '../payment/rail.ts';
import { openUnderWay } from '../under-way.ts';
import type { ClientOf } from './client-address.ts';
import { send, splitUrl } from './transport.ts';
import { visitOf } from './visits.ts';

interface RailPaths {
  /** Problems are passed on. */
  readonly router: Router;
  /** Resolves once nothing that was asked there is under way, whether or not its caller still waits: it may move money. */
  idle(): Promise<void>;
}

export function createRailPathsRouter(
  rails: ReadonlyMap<string, Rail>,
  { limits, clientOf }: { readonly limits: Pick<Limits, 'gate'>; readonly clientOf: ClientOf },
): RailPaths {
  const underWay = openUnderWay();
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
        send(response, await underWay.add(ownPath.answer(asked, gate)));
      } finally {
        gate.over();
      }
    });
    router.all(ownPath.path, () => {
      throw takesOnly('GET');
    });
  }
  return { router, idle: underWay.idle };
}
