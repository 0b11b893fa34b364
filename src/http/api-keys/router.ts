/** OpenAI's chat completions for API keys with prepaid credits. */
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type Router } from 'express';
import { LARGEST_BODY_BYTES } from '../../catalogue/endpoints/body-limit.ts';
import type { Route } from '../../catalogue/types.ts';
import type { ApiKeys } from '../../credits/api-keys.ts';
import { openRecentKeys } from '../../credits/recent-keys.ts';
import { Problem, takesOnly } from '../../errors.ts';
import { endOf } from '../../lifecycle/count.ts';
import type { Gate, Limits } from '../../limits/limits.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { CHAT_PATH, CREDITS_PATH, MODELS_PATH } from '../../paths.ts';
import { createLeases } from '../../payment/leases.ts';
import { readJsonObject } from '../../request/json-text.ts';
import { nextTurn } from '../../request/large-bodies.ts';
import type { Visit } from '../../request/visit.ts';
import type { ApiKey, CreditStore } from '../../store/credits/credit-store.ts';
import { openUnderWay } from '../../under-way.ts';
import { readRawBody } from '../body.ts';
import { visitOf } from '../visits.ts';
import { checkLimits, keyOf, shownKey } from './access.ts';
import { demandAllowance, ROUTE } from './charge.ts';
import { complete } from './complete.ts';
import { creditsOf } from './credits.ts';
import { listedModel, type SoldModel } from './models.ts';
import { nameOf, turnsByName } from './naming.ts';
import { ApiKeyProblem, errorAnswer } from './problems.ts';
import { type ChatCall, readCall } from './request.ts';
import type { TopUps } from './top-up.ts';

export interface ApiKeyRouterParts {
  readonly routes: readonly Route[];
  /** What can be talked with, by neutral name. */
  readonly models: ReadonlyMap<string, SoldModel>;
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly store: CreditStore;
  /** Undefined where no credits are sold. */
  readonly topUps: TopUps | undefined;
  /** Aborted when the gateway has to stop. */
  readonly stopping: AbortSignal;
  /** Names this instance. */
  readonly owner: string;
  /** See ChargeParts. */
  readonly creditsUrl: string | undefined;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly limits: Limits;
  readonly metrics?: Pick<Metrics, 'tokens' | 'cost'>;
  readonly log: Log;
  now(): number;
}

export interface ApiKeyRouter {
  readonly router: Router;
  /** `POST /v1/chat/completions` by itself, for who has looked at method and path. */
  complete(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Prolongs the leases of what calls under way hold. */
  renew(): Promise<void>;
  /** Resolves once no call is under way, whether or not its caller still waits. */
  idle(): Promise<void>;
}

/** Serves `POST /v1/chat/completions`, `GET /v1/models`, `GET /v1/models/{name}` and `GET /v1/credits`. Paths under `/v1` that are not sold are a 404 in OpenAI's shape; the rest is passed on. */
export function createApiKeyRouter(parts: ApiKeyRouterParts): ApiKeyRouter {
  const { routes, models, apiKeys, store, log, creditsUrl, leaseMs, now } = parts;
  // Every call under way listens to it.
  setMaxListeners(0, parts.stopping);
  const created = Math.floor(now() / 1000);
  const listed = [...models.values()].map((model) => listedModel(model, created));

  const leases = createLeases<string>({
    leaseMs,
    prolong: (ids, leaseUntil) => store.renew(parts.owner, ids, leaseUntil),
    nameOf: (id) => id,
    now,
  });
  const underWay = openUnderWay();
  const recentKeys = openRecentKeys(apiKeys, now);
  const inTurn = turnsByName(parts.waitMs);

  /** Throws ApiKeyProblem, and Problem where its address has shown too many that are none. */
  async function showsKey(
    { headers }: Pick<IncomingMessage, 'headers'>,
    gate: Gate,
    known: Pick<ApiKeys, 'find'>,
  ): Promise<ApiKey> {
    gate.arrives();
    try {
      return await keyOf(headers, known, { now: now(), creditsUrl });
    } catch (error) {
      if (error instanceof ApiKeyProblem) gate.refused();
      throw error;
    }
  }

  /** Tops the key up where a payment came along, and says how to where the balance is too small. */
  async function paidOrOffered(
    key: ApiKey,
    call: ChatCall,
    { headers }: Pick<IncomingMessage, 'headers'>,
    response: ServerResponse,
    visit: Visit,
    gate: Gate,
  ) {
    const made = () => complete({ ...parts, leases }, key, call, response, visit, gate);
    const completed = () => (call.named ? inTurn(call.named.name, made) : made());
    const { topUps } = parts;
    if (!topUps) return await completed();
    const topUp = { apiKey: shownKey(headers) ?? '', keyId: key.id, bound: call.bound, visit };
    const payment = headers['payment-signature']?.toString().trim();
    if (payment) {
      demandAllowance((await apiKeys.find(topUp.apiKey)) ?? key, call, now());
      response.setHeaders(new Map(Object.entries(await topUps.buy(topUp, payment))));
    }
    try {
      await completed();
    } catch (error) {
      if (error instanceof ApiKeyProblem && error.code === 'insufficient_credits') {
        response.setHeaders(new Map(Object.entries(await topUps.offer(topUp))));
      }
      throw error;
    }
  }

  /** Every failure is an answer in OpenAI's shape. */
  const answering =
    <Asked extends IncomingMessage>(
      answer: (request: Asked, response: ServerResponse, visit: Visit, gate: Gate) => Promise<void>,
    ) =>
    async (request: Asked, response: ServerResponse): Promise<void> => {
      const visit = visitOf(response);
      const { requestId } = visit;
      const gate = parts.limits.gate(visit.client);
      visit.door = 'api-key';
      // It is charged, also where its caller leaves.
      visit.hold();
      response.setHeader('x-request-id', requestId);
      response.setHeader('request-id', requestId);
      response.setHeader('cache-control', 'no-store');
      try {
        await answer(request, response, visit, gate);
      } catch (error) {
        const { status, headers, error: shown } = errorAnswer(error);
        if (shown.code === 'internal_error') log.error({ requestId, err: error }, 'request failed in the gateway');
        if (response.headersSent) {
          // An end without [DONE] is all that can still be shown.
          response.destroy();
          return;
        }
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        sendJson(response, status, { error: shown });
      } finally {
        gate.over();
        visit.release();
      }
    };

  const unknownPath = answering(async ({ method, path }: Request) => {
    const asked = `${method} ${path.slice(0, 100)}`;
    const sold = models.size > 0 ? `API keys pay for POST ${CHAT_PATH}` : 'What is sold is listed at /x402-resources';
    throw new Problem('unknown_path', `Unknown request URL: ${asked}. ${sold}`);
  });

  async function readAllowed(key: ApiKey, body: Buffer, headers: IncomingHttpHeaders): Promise<ChatCall> {
    const given = readJsonObject(body);
    await nextTurn(body);
    const call = { ...readCall(given, models), named: nameOf(key, body, headers, now()) };
    checkLimits(key, call);
    return call;
  }

  const chat = answering(async (request, response, visit, gate) => {
    const key = await showsKey(request, gate, recentKeys);
    visit.isPaying = true;
    visit.endpoint = ROUTE;
    const body = await readRawBody(request, LARGEST_BODY_BYTES);
    gate.brings(body);
    const call = await readAllowed(key, body, request.headers).catch((error: unknown) => {
      // It costs its caller nothing, as asking for a price does.
      gate.asks();
      throw error;
    });
    gate.identified(`key ${key.id}`);
    const completed = paidOrOffered(key, call, request, response, visit, gate).catch((error: unknown) => {
      if (error instanceof ApiKeyProblem && error.code === 'invalid_api_key') recentKeys.forget(key);
      gate.ended(endOf(error));
      // No provider was asked. Who lacks credits where they are sold was told a price, and is counted for that.
      const hasAsked = parts.topUps && error instanceof ApiKeyProblem && error.code === 'insufficient_credits';
      if (error instanceof ApiKeyProblem && !hasAsked) gate.asks();
      throw error;
    });
    await underWay.add(completed);
  });

  const router = express.Router();
  router.post(CHAT_PATH, chat);
  router.get(
    MODELS_PATH,
    answering(async (_request, response) => sendJson(response, 200, { object: 'list', data: listed })),
  );
  router.get(
    `${MODELS_PATH}/:name`,
    answering(async ({ params: { name } }: Request, response) => {
      const model = listed.find(({ id }) => id === name);
      if (!model) throw new ApiKeyProblem('model_not_found', 'No model of that name is sold here', { param: 'model' });
      sendJson(response, 200, model);
    }),
  );
  router.get(
    CREDITS_PATH,
    answering(async (request, response, _visit, gate) => {
      const key = await showsKey(request, gate, apiKeys);
      gate.asks();
      sendJson(response, 200, await creditsOf(key, store));
    }),
  );
  for (const [path, allow] of [
    [CHAT_PATH, 'POST'],
    [MODELS_PATH, 'GET'],
    [`${MODELS_PATH}/:name`, 'GET'],
  ] as const) {
    router.all(
      path,
      answering(async () => {
        throw takesOnly(allow);
      }),
    );
  }
  const sold = new Set(routes.map(({ path }) => path));
  router.use((request, response, next) => {
    if (!request.path.startsWith('/v1/') || sold.has(request.path)) return next();
    return unknownPath(request, response);
  });
  return {
    router,
    complete: chat,
    renew: leases.renew,
    idle: underWay.idle,
  };
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}
