/** The fulfil step: one result that fits its schema, or a problem and no charge. */
import { deadlineOf } from '../catalogue/endpoints/deadline.ts';
import { enveloped } from '../catalogue/endpoints/endpoint.ts';
import type { Input, Route } from '../catalogue/types.ts';
import { draining, finalCodes, Problem, type ProblemCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { onAbort } from '../on-abort.ts';
import { alreadyTaken, inProgress } from '../payment/conflicts.ts';
import type { Hold } from '../payment/hold.ts';
import type { Lease } from '../payment/leases.ts';
import { type GivenBack, giveBack } from '../payment/locking.ts';
import { ReceiptedProblem } from '../payment/receipted-problem.ts';
import type { Trace } from '../request/trace.ts';
import type { Visit } from '../request/visit.ts';
import type { Claim, Fulfilled, Receipt, Store } from '../store/store.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';
import { throughOutage } from '../store/through-outage.ts';
import { deadline } from '../timing.ts';
import { CutAnswer } from '../upstream/cut-answer.ts';
import { MediaNotStored } from '../upstream/media/store.ts';
import { UpstreamProblem } from '../upstream/problem.ts';
import { resultFault } from './input.ts';
import { upstreamCodes } from './upstream-codes.ts';

/** What a paid call tells the upstream layer besides its input. */
export interface FulfilContext {
  readonly network: string;
  readonly payer: string;
  readonly signal: AbortSignal;
  /** False once the work may be another instance's: nobody else is asked then. */
  mayGoOn(): boolean;
  readonly requestId: string;
  /** Of which the upstream's work is a part. */
  readonly trace: Trace | undefined;
  /** The store's name of the payment. */
  readonly paymentId: string;
  /** True where an earlier attempt of the payment got as far as this. */
  readonly isRepeated: boolean;
  /** Takes what the call has cost so far, in dollars, where its providers say so. */
  reportCost(dollars: string): void;
  /** Hears of every exchange with a provider, once it is over; no status: it gave no answer. */
  exchanged?(upstream: string, status: number | undefined, ms: number): void;
  /** Takes what has come of an answer that streams; left out: it is wanted whole. */
  readonly emit?: ((text: string) => void) | undefined;
}

/** The upstream layer as the lifecycle sees it. */
export interface UpstreamCaller {
  /** Throws UpstreamProblem. */
  call(route: Route, input: Input, context: FulfilContext): Promise<unknown>;
  /** Throws Problem `invalid_request` for an input that its schema takes and that nobody could serve; undefined: it can be. */
  demand?(route: Route, input: Input): Promise<void> | undefined;
  /** Aborted when the gateway has to stop. */
  readonly stopping: AbortSignal;
}

interface FulfilParts {
  readonly store: Pick<Store, 'fulfil' | 'giveUp'>;
  readonly upstreams: UpstreamCaller;
  readonly log: Log;
  now(): number;
}

interface CallOrder {
  readonly route: Route;
  readonly input: Input;
  /** The network that pays. */
  readonly network: string;
  readonly payer: string;
  readonly requestId: string;
  readonly visit: Visit | undefined;
}

export interface Fulfilment extends CallOrder {
  readonly claim: Claim;
  readonly lease: Lease;
  /** The payment has settled already, so a failure is owed instead of released. */
  readonly receipt?: Receipt | undefined;
  /** The payment is locked, so a failure gives it back. */
  readonly hold?: Hold | undefined;
  readonly emit?: FulfilContext['emit'];
  /** The answer is kept with the receipt, in one write. */
  readonly isKeptLater?: boolean;
}

/** What an adapter may take after its deadline to cancel upstream and say what happened. */
const GRACE_MS = 1_000;

/** What the caller is told of work that failed, or that the gateway's own end has cut off. */
export function toProblem(error: unknown, { stopping }: Pick<UpstreamCaller, 'stopping'>): Problem {
  const problem = asProblem(error);
  // What is refused for good is refused for good whenever it is asked again.
  if (!stopping.aborted || finalCodes.has(problem.code)) return problem;
  return draining('The gateway is shutting down, and nothing was charged: send the same request again in a moment');
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof UpstreamProblem) {
    const headers = error.failure === 'throttled' ? { headers: { 'retry-after': '60' } } : {};
    return new Problem(upstreamCodes[error.failure], error.publicMessage, { ...headers, cause: error });
  }
  if (error instanceof MediaNotStored) {
    return new Problem('media_unavailable', undefined, { headers: { 'retry-after': '10' }, cause: error });
  }
  return new Problem('internal_error', undefined, { cause: error });
}

/** Rejects once the deadline has passed and an adapter has had a moment to say so itself. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => reject(new UpstreamProblem('timeout', 'gateway', 'the adapter went on after its deadline'));
    const wait = () => setTimeout(late, GRACE_MS).unref();
    if (signal.aborted) wait();
    else onAbort(signal, wait);
  });
}

async function callUpstream(
  { upstreams, log }: Pick<FulfilParts, 'upstreams' | 'log'>,
  { route, input, requestId, network, payer, visit }: CallOrder,
  { lost, isFresh }: Pick<Lease, 'lost' | 'isFresh'>,
  own: Pick<FulfilContext, 'paymentId' | 'isRepeated' | 'reportCost' | 'emit'>,
): Promise<unknown> {
  const { signal, done } = deadline(deadlineOf(route, input), upstreams.stopping, lost);
  const startedAt = performance.now();
  let result: unknown;
  try {
    const exchanged: FulfilContext['exchanged'] = (upstream, status, ms) =>
      visit?.note('upstream', ms, `${upstream}: ${status ?? 'no answer'}`);
    const { paymentId, isRepeated, reportCost, emit } = own;
    const called = upstreams.call(route, input, {
      network,
      payer,
      paymentId,
      isRepeated,
      requestId,
      trace: visit?.trace,
      signal,
      mayGoOn: isFresh,
      reportCost,
      exchanged,
      emit,
    });
    result = await Promise.race([called, aborted(signal)]);
  } finally {
    done();
    if (visit) visit.upstreamMs = Math.round(performance.now() - startedAt);
  }
  if (result instanceof CutAnswer) {
    log.info({ requestId, route: route.id }, 'an answer was cut while it was passed on: sold as far as it came');
    return result.text;
  }
  const fault = resultFault(route, result);
  if (fault === undefined) return result;
  log.error({ requestId, route: route.id, fault }, 'upstream result does not fit the result schema');
  throw new Problem('upstream_invalid_result');
}

export const streamed = (body: string): StoredAnswer => ({ status: 200, contentType: 'text/event-stream', body });

/** Throws Problem `upstream_invalid_result` for what is nested more deeply than JSON can be written. */
function answerOf(route: Route, result: unknown): StoredAnswer {
  if (route.streams) return streamed(String(result));
  try {
    const body = JSON.stringify(enveloped(result, route.envelope));
    return { status: 200, contentType: 'application/json', body };
  } catch (error) {
    throw new Problem('upstream_invalid_result', undefined, { cause: error });
  }
}

/** All who pay nothing share one caller's turns at a provider. */
const NOBODY = 'nobody';

/** What nobody else can take over. */
const UNLEASED: Pick<Lease, 'lost' | 'isFresh'> = { lost: new AbortController().signal, isFresh: () => true };

/** Calls the upstream for nothing, and keeps nothing. Throws Problem. */
export async function fulfilFree(
  parts: Pick<FulfilParts, 'upstreams' | 'log'>,
  order: Omit<CallOrder, 'payer'>,
): Promise<StoredAnswer> {
  try {
    const call = { ...order, payer: NOBODY };
    const own = { paymentId: order.requestId, isRepeated: false, reportCost: () => {} };
    return answerOf(order.route, await callUpstream(parts, call, UNLEASED, own));
  } catch (error) {
    const problem = toProblem(error, parts.upstreams);
    parts.log.warn(
      { requestId: order.requestId, route: order.route.id, code: problem.code, err: error },
      'free call failed',
    );
    throw problem;
  }
}

/** What who has paid is told of a failure: what is said of a charge there is not true of this payment. */
function owed({ code, message, headers }: Problem, receipt: Receipt, cause: unknown): ReceiptedProblem {
  const reason =
    code === 'draining' ? 'the gateway is shutting down' : `${code}: ${message.replace('; nothing was charged', '')}`;
  const words = finalCodes.has(code)
    ? `Paid, but refused for good (${reason}): the operator's refund is due`
    : `Paid, but there is no result yet (${reason}): send the same request with the same payment to get it without a new charge`;
  return new ReceiptedProblem('result_owed', receipt, words, { headers, cause });
}

/** Where nothing was locked, the same payment gets what it is for once they have passed. */
const passing: Partial<Record<ProblemCode, string>> = {
  draining: 'The gateway is shutting down',
  internal_error: 'The gateway failed',
  store_unavailable: 'The database cannot be used now',
  media_unavailable: 'What was made cannot be stored now',
  too_many_requests: 'This payer has the gateway read too much at a time',
};

/** What was locked is given back by then, or will be, and buys nothing any more; what turns out to be taken still does. */
function givenBack(problem: Problem, when: GivenBack): Problem {
  if (when === 'taken') return alreadyTaken();
  const reason = passing[problem.code];
  if (reason === undefined) return problem;
  const { headers } = problem;
  const how = when === 'now' ? 'is given back' : 'is not back yet, and follows';
  return new Problem('refunded', `${reason}; what was locked ${how}: sign another payment`, {
    headers,
    cause: problem,
  });
}

/** The same problem, with a receipt where there is something to tell. */
const withWordOf = (problem: Problem, receipt: Receipt | undefined): Problem =>
  receipt ? new ReceiptedProblem(problem.code, receipt, problem.message, problem) : problem;

/** What was not charged is free again, and what was locked is given back. Undefined where another has the payment. */
async function letGo(
  parts: Pick<FulfilParts, 'store' | 'now'>,
  { claim, lease, receipt, hold }: Pick<Fulfilment, 'claim' | 'lease' | 'receipt' | 'hold'>,
  reason: string,
): Promise<GivenBack | undefined> {
  const { store, now } = parts;
  if (!hold?.release) {
    const isOurs = await throughOutage(() => store.giveUp(claim, receipt ? 'owed' : 'released', reason, now()));
    return isOurs ? 'now' : undefined;
  }
  if (!(await throughOutage(() => lease.confirm()))) return undefined;
  return giveBack(parts, claim, { release: hold.release }, reason);
}

/**
 * Calls the upstream and keeps the answer, unless that is done later. Throws Problem; the claim is given up by then, unless
 * another has it: `payment_in_progress`.
 */
export async function fulfilPayment(parts: FulfilParts, request: Fulfilment): Promise<Fulfilled> {
  const { store, log, now } = parts;
  const { route, claim, lease, receipt, hold, requestId } = request;
  const startedAt = now();
  let cost: string | undefined;
  let answer: StoredAnswer;
  if (!(await lease.confirm())) throw inProgress();
  try {
    const reportCost = (dollars: string) => {
      cost = dollars;
      if (request.visit) request.visit.cost = dollars;
    };
    const own = { paymentId: claim.id, isRepeated: claim.attempt > 1, reportCost, emit: request.emit };
    answer = answerOf(route, await callUpstream(parts, request, lease, own));
  } catch (error) {
    if (lease.lost.aborted) throw inProgress();
    const problem = toProblem(error, parts.upstreams);
    const details = { requestId, route: route.id, code: problem.code, attempt: claim.attempt, ms: now() - startedAt };
    log.warn({ ...details, err: error }, receipt ? 'paid call failed: its result is owed' : 'call failed: not charged');
    const when = await letGo(parts, request, problem.code);
    if (!when) throw inProgress();
    if (!receipt) throw withWordOf(hold?.release ? givenBack(problem, when) : problem, hold?.told?.());
    throw owed(problem, receipt, error);
  }
  const keep = () => store.fulfil(claim, answer, cost === undefined ? { now: now() } : { cost, now: now() });
  if (!request.isKeptLater && !(await throughOutage(keep))) throw inProgress();
  log.info({ requestId, route: route.id, attempt: claim.attempt, ms: now() - startedAt }, 'upstream answered');
  return { answer, cost };
}
