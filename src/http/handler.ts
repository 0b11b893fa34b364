/** The road of one paid request, top to bottom. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Input, Route } from '../catalogue/types.ts';
import { Problem } from '../errors.ts';
import type { Money } from '../money.ts';
import { claimPayment, type Work } from '../payment/claim.ts';
import { type Answer, type Proof, type Quote, type Rail, type RawRequest, Refusal } from '../payment/rail.ts';
import { settlePayment } from '../payment/settle.ts';
import type { Store, StoredAnswer, StoredReceipt } from '../store/store.ts';
import { readRawBody } from './body.ts';
import { readInput } from './input.ts';
import type { Log } from './log.ts';
import { problemAnswer } from './problem.ts';
import type { Router } from './router.ts';
import { amountDue, serve, type UpstreamCaller } from './serve.ts';

export interface HandlerParts {
  readonly router: Router;
  readonly rails: Readonly<Record<string, Rail>>;
  readonly store: Store;
  readonly upstreams: UpstreamCaller;
  /** Names this instance. */
  readonly owner: string;
  readonly log: Log;
  now(): number;
}

/** Binds a payment to the request it was made for. */
function bindingOf({ method, path, query, body }: RawRequest): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHash('sha256').update([method, path, query, digest].join('\n')).digest('hex');
}

/** Node keeps the first of several `Authorization` lines; a rail has to see that there were several. */
function headersOf({ headers, headersDistinct }: IncomingMessage): RawRequest['headers'] {
  return headers.authorization === undefined ? headers : { ...headers, authorization: headersDistinct.authorization };
}

function readProof(rail: Rail, request: RawRequest): { proof?: Proof; refusal?: Refusal } {
  try {
    const proof = rail.read(request);
    return proof ? { proof } : {};
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    throw error;
  }
}

/** The validated input and its price, or what is wrong with it: some prices refuse an input that its schema takes. */
function tryInput(route: Route, request: RawRequest): { priced?: { input: Input; amount: Money }; problem?: Problem } {
  try {
    const input = readInput(route, request);
    return { priced: { input, amount: route.price.quote(input) } };
  } catch (error) {
    if (error instanceof Problem) return { problem: error };
    throw error;
  }
}

/** What an agent reads in a 402 about the body it is about to pay for. */
const invalidParams = (problem: Problem): readonly object[] =>
  problem.details ?? [{ path: '/', message: problem.message }];

const sentAnswer = (answer: StoredAnswer, receipt: StoredReceipt, replayed: boolean): Answer => ({
  status: answer.status,
  headers: {
    'content-type': answer.contentType,
    'cache-control': 'private',
    ...receipt.headers,
    ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
  },
  body: answer.body,
});

export function createHandler(parts: HandlerParts) {
  const { router, rails, log } = parts;
  const working = new Set<string>();
  const running = new Set<Promise<unknown>>();

  /** Settles before or after the upstream call, whichever the authorization allows. */
  const work = async (rail: Rail, quote: Quote, input: Input, todo: Work, requestId: string): Promise<Answer> => {
    const { claim, verified, network } = todo;
    let receipt = todo.receipt;
    if (!receipt && verified?.settlesFirst) {
      receipt = await settlePayment(parts, rail, claim, verified, quote, quote.amount);
    }
    const settled = receipt !== undefined;
    const answer = todo.answer ?? (await serve(parts, { quote, input, claim, settled, requestId, network }));
    if (!receipt) {
      if (!verified) throw new Error('a payment without a receipt was not verified');
      receipt = await settlePayment(parts, rail, claim, verified, quote, amountDue(quote, input, answer));
    }
    return sentAnswer(answer, receipt, false);
  };

  const pay = async (rail: Rail, proof: Proof, quote: Quote, input: Input, requestId: string): Promise<Answer> => {
    const claimed = await claimPayment(parts, rail, proof, quote, bindingOf(quote.request));
    if (claimed.kind === 'replay') return sentAnswer(claimed.answer, claimed.receipt, true);
    const { id } = claimed.work.claim;
    working.add(id);
    try {
      return await work(rail, quote, input, claimed.work, requestId);
    } finally {
      working.delete(id);
    }
  };

  const road = async (message: IncomingMessage, path: string, query: string, requestId: string): Promise<Answer> => {
    const method = message.method ?? 'GET';
    const route = router.find(method, path);
    const request: RawRequest = { method, path, query, headers: headersOf(message), body: await readRawBody(message) };
    const rail = rails[route.rail];
    if (!rail) throw new Problem('unknown_path');
    const { proof, refusal } = readProof(rail, request);
    const { priced, problem } = tryInput(route, request);
    if (!proof) {
      const amount = priced?.amount ?? route.listing.price;
      return rail.challenge({ route, amount, request }, refusal, problem && invalidParams(problem));
    }
    if (!priced) throw problem;
    const quote: Quote = { route, amount: priced.amount, request };
    try {
      return await pay(rail, proof, quote, priced.input, requestId);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      log.info({ requestId, route: route.id, kind: error.kind, reason: error.message }, 'payment refused');
      return rail.challenge(quote, error);
    }
  };

  const answer = async (message: IncomingMessage, path: string, query: string): Promise<Answer> => {
    const requestId = randomUUID();
    let answered: Answer;
    try {
      answered = await road(message, path, query, requestId);
    } catch (error) {
      if (!(error instanceof Problem)) log.error({ requestId, err: error }, 'request failed in the gateway');
      answered = problemAnswer(error, requestId);
    }
    answered.headers['request-id'] = requestId;
    return answered;
  };

  return {
    /** Never throws: every failure is an answer. */
    answer: (message: IncomingMessage, path: string, query: string): Promise<Answer> => {
      const run = answer(message, path, query);
      running.add(run);
      run.finally(() => running.delete(run));
      return run;
    },
    /** Payments that are worked on here: only their leases are prolonged, so that what a fault left behind comes free. */
    working: (): readonly string[] => [...working],
    /** Resolves once nothing is under way, whether or not its caller still waits. */
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
