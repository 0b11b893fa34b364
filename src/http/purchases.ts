/** `GET /v1/purchases` and `/v1/purchases/<id>`. Source: the x402 extension `sign-in-with-x`, of a resource that takes no payment (`accepts: []`). */
import express, { type Request, type Response, type Router } from 'express';
import { Problem, takesOnly } from '../errors.ts';
import type { Gate, Limits } from '../limits/limits.ts';
import { PURCHASES_PATH } from '../paths.ts';
import type { HttpAnswer, Rail } from '../payment/rail.ts';
import type { Purchases } from '../purchases/purchases.ts';
import { requiredAnswer } from '../rails/x402/required.ts';
import { render } from './render.ts';
import { send, splitUrl } from './transport.ts';
import { visitOf } from './visits.ts';

/** The header that carries the proof. */
export const PROOF_HEADER = 'SIGN-IN-WITH-X';

const HOW = `Sign extensions.sign-in-with-x.info and send it as ${PROOF_HEADER}: nothing is to be paid`;

/** 402 is what the extension's clients sign for; its body says the same to who reads it. */
function askForProof({ challenge }: Purchases, id?: string): HttpAnswer {
  const declared = challenge(id);
  const description = id === undefined ? 'What a wallet bought here' : 'An answer that was paid for';
  const resource = { url: declared.info.uri, description, mimeType: 'application/json' };
  const required = { x402Version: 2, error: HOW, resource, accepts: [], extensions: { 'sign-in-with-x': declared } };
  return requiredAnswer('Proof of the wallet required', HOW, required);
}

/** Whatever a rail calls a payment: no other text is asked of the database, and it takes no NUL. */
const ID = /^[\x20-\x7e]{1,512}$/;

/** A number, and what is no number is left for the list to refuse. */
const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text || Number.NaN));

/** Problems are passed on. */
export function createPurchasesRouter(
  purchases: Purchases,
  rails: ReadonlyMap<string, Rail>,
  limits: Pick<Limits, 'gate'>,
): Router {
  const router = express.Router();
  /** What is shown for the proof, or undefined once who has none was told what to sign. */
  const shown = async <Shown>(
    show: (proof: string, gate: Gate) => Promise<Shown>,
    request: Request,
    response: Response,
    id?: string,
  ): Promise<Shown | undefined> => {
    const visit = visitOf(response);
    response.setHeader('request-id', visit.requestId);
    const gate = limits.gate(visit.client);
    gate.asks();
    const proof = request.get(PROOF_HEADER);
    if (proof !== undefined) return await show(proof, gate).finally(gate.over);
    visit.isProbe = true;
    send(response, askForProof(purchases, id));
    return undefined;
  };
  router.get(PURCHASES_PATH, async (request, response) => {
    const query = new URLSearchParams(splitUrl(request.url).query);
    const page = { limit: numberOf(query.get('limit')), before: query.get('before') ?? undefined };
    const listed = await shown((proof, gate) => purchases.list(proof, page, gate), request, response);
    if (!listed) return;
    const body = JSON.stringify(listed);
    send(response, { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body });
  });
  router.get('/v1/purchases/:id', async (request, response) => {
    const { id } = request.params;
    if (!ID.test(id)) throw new Problem('unknown_path');
    const bought = await shown((proof, gate) => purchases.answer(proof, id, gate), request, response, id);
    if (!bought) return;
    const { requestId } = visitOf(response);
    send(response, render({ kind: 'result', ...bought, replayed: true, requestId, isClaimed: true }, rails));
  });
  router.all([PURCHASES_PATH, `${PURCHASES_PATH}/:id`], () => {
    throw takesOnly('GET');
  });
  return router;
}
