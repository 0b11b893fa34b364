/** `POST /v1/refunds`: the refund endpoint that challenges name (x402's draft extension `refund`). */
import express, { type Router } from 'express';
import { takesOnly } from '../errors.ts';
import { demandFits } from '../lifecycle/input.ts';
import type { Limits } from '../limits/limits.ts';
import { REFUNDS_PATH } from '../paths.ts';
import { type RefundAnswer, type RefundRequestBody, refundRequestSchema } from '../payment/refunds/requested.ts';
import { readJsonObject } from '../request/json-text.ts';
import { readRawBody } from './body.ts';
import { send } from './transport.ts';
import { visitOf } from './visits.ts';

const LARGEST_BODY_BYTES = 4_096;

/** Problems are passed on. */
export function createRefundsRouter(
  answer: (request: RefundRequestBody) => Promise<RefundAnswer>,
  limits: Pick<Limits, 'gate'>,
): Router {
  const router = express.Router();
  router.post(REFUNDS_PATH, async (request, response) => {
    const { requestId, client } = visitOf(response);
    response.setHeader('request-id', requestId);
    limits.gate(client).asks();
    const bytes = await readRawBody(request, LARGEST_BODY_BYTES);
    const input: unknown = demandFits(refundRequestSchema, () => readJsonObject(bytes) as Record<string, unknown>);
    const body = JSON.stringify(await answer(input as RefundRequestBody));
    send(response, { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body });
  });
  router.all(REFUNDS_PATH, () => {
    throw takesOnly('POST');
  });
  return router;
}
