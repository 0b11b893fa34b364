/** The API-key door: OpenAI's chat completions with prepaid credits. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Catalogue, Route } from '../../catalogue/types.ts';
import type { CreditsDesk } from '../../credits/desk.ts';
import { Problem } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { CreditStore } from '../../store/credit-store.ts';
import type { Binding } from '../../upstream/adapter.ts';
import { readRawBody } from '../body.ts';
import { checkLimits, keyOf } from './access.ts';
import { complete } from './complete.ts';
import { creditsOf } from './credits.ts';
import { listedModel, soldModels } from './models.ts';
import { DoorProblem, errorAnswer } from './problems.ts';
import { parseBody, readCall } from './request.ts';

export interface ChatDoorParts {
  readonly catalogue: Pick<Catalogue, 'routes' | 'upstreams'>;
  readonly desk: Pick<CreditsDesk, 'find'>;
  readonly store: CreditStore;
  /** The upstreams of a route that have their keys: `Upstreams.bindings`. */
  bindings(route: Route): readonly Binding[];
  /** Aborted when the gateway has to stop. */
  readonly stopping: AbortSignal;
  /** Names this instance. */
  readonly owner: string;
  /** The ids of its calls under way: whoever renews its leases keeps what they hold. */
  readonly underWay: Set<string>;
  /** Origin, without a trailing slash. */
  readonly publicUrl: string;
  readonly log: Log;
  now(): number;
}

/** Serves `POST /v1/chat/completions`, `GET /v1/models`, `GET /v1/models/{name}` and `GET /v1/credits`, and passes the rest on. */
export function createChatDoor(parts: ChatDoorParts): Router {
  const { catalogue, desk, store, log, publicUrl, now } = parts;
  const models = soldModels(catalogue, parts.bindings);
  // Every call under way listens to it.
  setMaxListeners(0, parts.stopping);
  const created = Math.floor(now() / 1000);
  const listed = [...models.values()].map((model) => listedModel(model, created));

  const showsKey = (request: Request) => keyOf(request.headers, desk, { now: now(), publicUrl });

  /** Every failure is an answer in OpenAI's shape. */
  const answering =
    (answer: (request: Request, response: Response, requestId: string) => Promise<void>): RequestHandler =>
    async (request, response) => {
      const requestId = randomUUID();
      response.setHeader('x-request-id', requestId);
      response.setHeader('request-id', requestId);
      response.setHeader('cache-control', 'no-store');
      try {
        await answer(request, response, requestId);
      } catch (error) {
        const { status, headers, error: told } = errorAnswer(error);
        if (told.code === 'internal_error') log.error({ requestId, err: error }, 'request failed in the gateway');
        if (response.headersSent) {
          // An end without [DONE] is all that can still be said.
          response.destroy();
          return;
        }
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        sendJson(response, status, { error: told });
      }
    };

  const router = express.Router();
  router.post(
    '/v1/chat/completions',
    answering(async (request, response, requestId) => {
      const key = await showsKey(request);
      const call = readCall(parseBody(await readRawBody(request)), models);
      checkLimits(key, call);
      await complete(parts, key, call, response, requestId);
    }),
  );
  router.get(
    '/v1/models',
    answering(async (_request, response) => sendJson(response, 200, { object: 'list', data: listed })),
  );
  router.get(
    '/v1/models/:name',
    answering(async (request, response) => {
      const { name } = request.params;
      const model = listed.find(({ id }) => id === name);
      if (!model) throw new DoorProblem('model_not_found', 'No model of that name is sold here', { param: 'model' });
      sendJson(response, 200, model);
    }),
  );
  router.get(
    '/v1/credits',
    answering(async (request, response) => sendJson(response, 200, await creditsOf(await showsKey(request), store))),
  );
  for (const [path, allow] of [
    ['/v1/chat/completions', 'POST'],
    ['/v1/models', 'GET'],
    ['/v1/models/:name', 'GET'],
  ] as const) {
    router.all(
      path,
      answering(async () => {
        throw new Problem('method_not_allowed', `This path takes ${allow}`, { headers: { allow } });
      }),
    );
  }
  return router;
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}
