/** `GET /v1/purchases`. Source: the x402 extension `sign-in-with-x`, of a resource that takes no payment (`accepts: []`). */
import express, { type Router } from 'express';
import { Problem } from '../errors.ts';
import type { HttpAnswer } from '../payment/rail.ts';
import type { Purchases } from '../purchases/purchases.ts';
import { encodeHeader } from '../rails/x402/wire.ts';
import { send, splitUrl } from './transport.ts';
import { visitOf } from './visits.ts';

/** The header that carries the proof. */
export const PROOF_HEADER = 'SIGN-IN-WITH-X';

const HOW = `Sign extensions.sign-in-with-x.info and send it as ${PROOF_HEADER}: nothing is to be paid`;

/** 402 is what the extension's clients sign for; its body says the same to who reads it. */
function askForProof({ challenge }: Purchases): HttpAnswer {
  const declared = challenge();
  const resource = { url: declared.info.uri, description: 'What a wallet bought here', mimeType: 'application/json' };
  const required = { x402Version: 2, error: HOW, resource, accepts: [], extensions: { 'sign-in-with-x': declared } };
  const problem = { type: 'about:blank', title: 'Proof of the wallet required', status: 402, detail: HOW };
  return {
    status: 402,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'payment-required': encodeHeader(required),
    },
    body: JSON.stringify({ ...problem, ...required }),
  };
}

/** A number, and what is no number is left for the list to refuse. */
const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text || Number.NaN));

/** Problems are passed on. */
export function createPurchasesRouter(purchases: Purchases): Router {
  const router = express.Router();
  router.get('/v1/purchases', async (request, response) => {
    const visit = visitOf(response);
    response.setHeader('request-id', visit.requestId);
    const proof = request.get(PROOF_HEADER);
    if (proof === undefined) {
      visit.isProbe = true;
      send(response, askForProof(purchases));
      return;
    }
    const query = new URLSearchParams(splitUrl(request.url).query);
    const page = { limit: numberOf(query.get('limit')), before: query.get('before') ?? undefined };
    const body = JSON.stringify(await purchases.list(proof, page));
    send(response, { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body });
  });
  router.all('/v1/purchases', () => {
    throw new Problem('method_not_allowed', 'This path takes GET', { headers: { allow: 'GET' } });
  });
  return router;
}
