/**
 * What happens to a request for something that is sold. The steps stand in the order in which they happen: find, read
 * the credential, validate and price, challenge or verify and claim, fulfil, settle; what a step learns is kept before
 * the next one begins. Transports hand requests in and put outcomes into their own words.
 */
import { randomUUID } from 'node:crypto';
import { deadlineOf } from '../catalogue/endpoints/deadline.ts';
import { holdsSecret } from '../catalogue/endpoints/secret.ts';
import type { Input, Route } from '../catalogue/types.ts';
import { draining, Problem } from '../errors.ts';
import type { Counted, Gate, Limits } from '../limits/limits.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Money } from '../money.ts';
import { onAbort } from '../on-abort.ts';
import { boughtWhileValid, type Purchase, type Replay } from '../payment/bought.ts';
import { type ClaimedPayment, claimPayment } from '../payment/claim.ts';
import { inProgress, notSeenYet } from '../payment/conflicts.ts';
import type { ExposureControl } from '../payment/exposure/control.ts';
import type { Hold } from '../payment/hold.ts';
import { type Intervals, usualIntervals } from '../payment/intervals.ts';
import { createLeases, type Lease, type Leases } from '../payment/leases.ts';
import { lockPayment, type ToLock } from '../payment/locking.ts';
import type { Credential, Quote, Rail } from '../payment/rail.ts';
import { ReceiptedProblem } from '../payment/receipted-problem.ts';
import { Refusal } from '../payment/refusal.ts';
import { type Settled, settlePayment, type ToSettle } from '../payment/settle.ts';
import { nextTurn } from '../request/large-bodies.ts';
import type { GatewayRequest } from '../request/request.ts';
import type { Visit } from '../request/visit.ts';
import type { Claim, Fulfilled, Store } from '../store/store.ts';
import { unlessAborted } from '../timing.ts';
import { openUnderWay } from '../under-way.ts';
import { amountDue, quotedOf } from './amount-due.ts';
import { counted } from './count.ts';
import { emitter } from './emit.ts';
import type { RouteFinder } from './find.ts';
import { type Fulfilment, fulfilFree, fulfilPayment, type UpstreamCaller } from './fulfil.ts';
import { demandServable, networksFor, readInput } from './input.ts';
import { listedQuote } from './listed-quote.ts';
import { noteClaimed, noteReceipt, noteRoute } from './note.ts';
import type { Ending, LiveAnswer, Outcome } from './outcome.ts';

/** A request whose body has not been read: what is not sold is answered without it. */
export type IncomingRequest = Omit<GatewayRequest, 'body'> & {
  /** Once a first step of work on it has its turn. Throws Problem. */
  readBody(limitBytes: number): Promise<Buffer>;
  /** Left out: the answer is wanted whole. */
  readonly live?: LiveAnswer | undefined;
  /** Its catalogue is not on sale any more: what was paid for is answered, and nothing is given. */
  readonly isHonoured?: true;
  /** Shared by all catalogues that it is shown to. */
  readonly counted?: Counted;
  /** Takes what is to be known of the request afterwards. */
  readonly visit?: Visit | undefined;
};

export interface LifecycleParts {
  readonly routes: RouteFinder;
  /** By name. */
  readonly rails: ReadonlyMap<string, Rail>;
  readonly store: Store;
  readonly exposure: ExposureControl;
  readonly limits: Limits;
  readonly upstreams: UpstreamCaller;
  readonly metrics: Pick<Metrics, 'payment' | 'settledFirst' | 'settlement'>;
  /** Names this instance. */
  readonly owner: string;
  /** Prolongs the leases of all that it works on, whatever catalogue is on sale. */
  readonly renewAll?: () => Promise<unknown>;
  readonly intervals?: Intervals;
  readonly log: Log;
  /** Of an asset, by its address. */
  decimalsOf(asset: string): number;
  now(): number;
}

/** One request on its way. */
interface Call {
  readonly parts: LifecycleParts;
  readonly leases: Leases<Claim>;
  readonly requestId: string;
  readonly route: Route;
  readonly rail: Rail;
  readonly request: GatewayRequest;
  readonly live: LiveAnswer | undefined;
  readonly visit: Visit | undefined;
  readonly gate: Gate;
}

/** A valid request and its price. */
interface Priced {
  readonly input: Input;
  readonly quote: Quote;
}

/** `onClaimed` is called once the payment is this request's. */
async function run(
  parts: LifecycleParts,
  leases: Leases<Claim>,
  incoming: IncomingRequest,
  requestId: string,
  gate: Gate,
  onClaimed: () => void,
): Promise<Ending> {
  const { route, rail, request } = await find(parts, incoming);
  const { live, visit } = incoming;
  const call: Call = { parts, leases, requestId, route, rail, request, live, visit, gate };
  gate.brings(request.body);
  const { credential, refusal } = readCredential(call);
  if (refusal) gate.refused();
  if (!credential) gate.asks();
  if (visit) visit.isPaying = credential !== undefined || refusal !== undefined;
  const { priced, fault } = await validateAndPrice(call, credential);
  const isFree = priced?.quote.amount === 0n && route.endpoint.free;
  const given = isFree && !request.isQuote && !incoming.isHonoured ? priced : undefined;
  // Nobody verifies its payment.
  if (credential && (given || fault)) gate.asks();
  if (given) return await give(call, given);
  if (visit && !credential) visit.isProbe = !refusal && !request.isQuote;
  if (!credential) return challenge(call, priced, refusal, fault);
  if (!priced) return await giveBought(call, credential, fault);
  let isClaimed = false;
  try {
    const claimed = await verifyAndClaim(call, credential, priced);
    isClaimed = true;
    onClaimed();
    noteClaimed(call, claimed);
    if (!('claim' in claimed)) return result(call, claimed, true);
    const bought = await counted({ metrics: parts.metrics, gate }, rail.name, claimed, () =>
      work(call, priced, claimed),
    );
    return result(call, bought, false);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!isClaimed) gate.refused();
    const { kind, message: reason, cause } = error;
    const told = { requestId, route: route.id, kind, reason };
    // Whoever could not be asked is the operator's to mend.
    if (cause instanceof Error) parts.log.warn({ ...told, why: cause.message }, 'payment refused unchecked');
    else parts.log.info(told, 'payment refused');
    if (error.isSent) throw notSeenYet(error.message);
    return challenge(call, priced, error, undefined);
  }
}

/** 404, 405; 413 for a body that is too large. */
async function find({ routes, rails, upstreams }: LifecycleParts, incoming: IncomingRequest) {
  const { transport, method, path, query, headers, isQuote, tool } = incoming;
  const route = routes.find(method, path);
  noteRoute(incoming.visit, route, transport);
  const rail = rails.get(route.rail);
  if (!rail) throw new Problem('unknown_path');
  const body = await unlessAborted(upstreams.stopping, incoming.readBody(route.bodyLimitBytes), draining);
  const request: GatewayRequest = { transport, method, path, query, headers, body, isQuote, tool };
  return { route, rail, request };
}

/** 400 for several. One that cannot be read is answered as if there were none, with the reason. */
function readCredential({ rail, request }: Call): { credential?: Credential | undefined; refusal?: Refusal } {
  try {
    return { credential: rail[request.transport].read(request) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    throw error;
  }
}

/** 400 where it is paid for, else reported in the challenge. Some prices refuse an input that its schema takes. */
async function validateAndPrice(
  { parts, route, request }: Call,
  credential: Credential | undefined,
): Promise<{ priced?: Priced; fault?: Problem }> {
  try {
    const input = readInput(route, request);
    const networks = networksFor(route, input);
    await demandServable(parts, route, input, credential);
    await nextTurn(request.body);
    const deadlineMs = deadlineOf(route, input);
    const isSecret = holdsSecret(route.endpoint, input);
    return {
      priced: { input, quote: { route, amount: route.price.quote(input), networks, deadlineMs, isSecret, request } },
    };
  } catch (error) {
    if (error instanceof Problem) return { fault: error };
    throw error;
  }
}

/** 200 for what costs nothing, 500 where the provider failed. A payment that comes along is left alone. */
async function give({ parts, requestId, route, rail, visit }: Call, { input }: Priced): Promise<Ending> {
  const answer = await fulfilFree(parts, { route, input, network: route.networks[0] ?? '', requestId, visit });
  return { kind: 'result', rail: rail.name, answer, receipt: undefined, replayed: false };
}

/** 200 for what the payment bought when its request was valid, else 400. 500 where that is owed, or was given back; 409 where it may be charged yet. */
async function giveBought(call: Call, credential: Credential, fault: Problem | undefined): Promise<Ending> {
  const { parts, route, request } = call;
  const bought = await boughtWhileValid(parts, credential, listedQuote(route, request));
  if (!bought) throw fault;
  noteClaimed(call, bought);
  return result(call, bought, true);
}

/** 402: the price, or the listed one of an invalid request with everything that is wrong with it. 400 for that where nothing costs anything. */
function challenge(
  { route, rail, request }: Call,
  priced: Priced | undefined,
  refusal: Refusal | undefined,
  fault: Problem | undefined,
): Ending {
  const { price, minPrice } = route.listing;
  if (fault && !request.isQuote && price === 0n && minPrice === undefined) throw fault;
  const quote = priced?.quote ?? listedQuote(route, request);
  const invalidParams = fault && (fault.details ?? [{ path: '/', message: fault.message }]);
  return { kind: 'challenge', rail: rail.name, challenge: rail.challenge(quote, refusal, invalidParams) };
}

/** 402 refused, 409 in progress or pending. Nothing has moved; from here on the payment is this request's alone. */
function verifyAndClaim(
  { parts, rail, gate, visit }: Call,
  credential: Credential,
  { quote }: Priced,
): Promise<ClaimedPayment | Replay> {
  const { renewAll: renew, upstreams } = parts;
  const noted = (step: string, ms: number) => visit?.note(step, ms);
  return claimPayment({ ...parts, renew, gate, stopping: upstreams.stopping, noted }, rail, credential, quote);
}

async function work(call: Call, priced: Priced, claimed: ClaimedPayment): Promise<Purchase> {
  const { claim, leaseUntil } = claimed;
  const lease = call.leases.take(claim, leaseUntil);
  try {
    if ('receipt' in claimed) {
      const { receipt } = claimed;
      return { receipt, answer: (await fulfil(call, priced, claimed, lease, { receipt })).answer };
    }
    const { hold, isCovered = false } = claimed.verified;
    const quoted = quotedOf(claimed.verified);
    if (hold) await lock(call, claimed, lease, hold);
    if (claimed.verified.upfront && !hold) {
      const { receipt, isOurs } = await settle(call, claimed, lease, quoted);
      if (!isOurs) throw inProgress();
      return { receipt, answer: (await fulfil(call, priced, claimed, lease, { receipt })).answer };
    }
    const isKeptLater = isCovered && claimed.answer === undefined;
    const fulfilled = await fulfil(call, priced, claimed, lease, { hold, isKeptLater });
    const due = amountDue(call.route, priced.input, fulfilled.answer, quoted);
    const { receipt, isOurs } = await settle(call, claimed, lease, due, isKeptLater ? fulfilled : undefined);
    if (hold && !isOurs) throw inProgress();
    return { answer: fulfilled.answer, receipt };
  } finally {
    lease.end();
    if ('verified' in claimed) claimed.workEnded();
  }
}

/** 402 where nothing can be locked, 409 while nobody knows or where another instance has taken it over. */
async function lock({ parts }: Call, payment: ToLock, lease: Lease, hold: Hold): Promise<void> {
  if (!(await lease.confirm())) throw inProgress();
  await lockPayment(parts, payment, hold);
}

/** 500: what was not settled is free again, what was locked is given back, what was settled is owed. 409 where another instance has taken it over. */
async function fulfil(
  call: Call,
  { input, quote: { route } }: Priced,
  { claim, network, payer, answer }: ClaimedPayment,
  lease: Lease,
  standing: Pick<Fulfilment, 'receipt' | 'hold' | 'isKeptLater'>,
): Promise<Fulfilled> {
  if (answer) return { answer, cost: undefined };
  const { parts, requestId, rail, live, visit } = call;
  const { receipt, hold, isKeptLater } = standing;
  const emit = emitter({ route, rail: rail.name, requestId, live }, receipt);
  const order = { route, input, claim, lease, network, payer, requestId, visit, receipt, hold, isKeptLater, emit };
  return await fulfilPayment(parts, order);
}

/** 402 and the result withheld, 409 while nobody knows or where another instance has taken it over. */
async function settle(
  call: Call,
  payment: ToSettle,
  lease: Lease,
  amount: Money,
  fulfilled?: Fulfilled,
): Promise<Settled> {
  if (!(await lease.confirm())) throw inProgress();
  const { rail, parts } = call;
  const startedAt = performance.now();
  let end = 'settlement failed';
  const settled = await settlePayment(parts, rail, payment, amount, fulfilled)
    .then((found) => {
      end = 'settled';
      return found;
    })
    .finally(() => {
      const ms = performance.now() - startedAt;
      parts.metrics.settlement({ rail: rail.name, network: payment.verified.network }, ms);
      call.visit?.note(end, ms);
    });
  noteReceipt(call, payment.verified.asset, settled.receipt);
  return settled;
}

/** 200. */
const result = ({ rail }: Call, { answer, receipt }: Purchase, replayed: boolean): Ending => ({
  kind: 'result',
  rail: rail.name,
  answer,
  receipt,
  replayed,
});

export interface Lifecycle {
  /** Never throws: every failure is an outcome. */
  answer(request: IncomingRequest): Promise<Outcome>;
  /** As many bytes as it takes of a body at the path. */
  bodyLimitOf(path: string): number;
  /** Prolongs the leases of what is worked on here, and of nothing else: what a fault left behind comes free. */
  renew(): Promise<void>;
  /** Resolves once nothing is under way, whether or not its caller still waits. */
  idle(): Promise<void>;
}

export function createLifecycle(parts: LifecycleParts): Lifecycle {
  const { leaseMs } = parts.intervals ?? usualIntervals;
  const leases = createLeases<Claim>({
    leaseMs,
    prolong: (claims, leaseUntil) => parts.store.renew(parts.owner, claims, leaseUntil),
    nameOf: ({ id, attempt }) => `${attempt} ${id}`,
    now: parts.now,
  });
  const underWay = openUnderWay();
  // Every request waits for it. Measured: to begin listening and to end it for each takes 2 % of an unpaid 402.
  onAbort(parts.upstreams.stopping, () => {});

  const answer = async (request: IncomingRequest): Promise<Outcome> => {
    const requestId = request.visit?.requestId ?? randomUUID();
    const gate = parts.limits.gate(request.visit?.client, request.counted);
    let isClaimed = false;
    const onClaimed = () => {
      isClaimed = true;
    };
    try {
      const ending = await run(parts, leases, request, requestId, gate, onClaimed);
      return { requestId, isClaimed, ...ending };
    } catch (error) {
      const rail = parts.routes.railOf(request.path);
      if (error instanceof Problem) {
        const receipt = error instanceof ReceiptedProblem ? error.receipt : undefined;
        return { requestId, isClaimed, kind: 'problem', problem: error, rail, receipt };
      }
      parts.log.error({ requestId, err: error }, 'request failed in the gateway');
      return { requestId, isClaimed, kind: 'problem', problem: new Problem('internal_error'), rail };
    } finally {
      gate.over();
    }
  };

  return {
    answer: (request) => underWay.add(answer(request)),
    bodyLimitOf: parts.routes.bodyLimitOf,
    renew: leases.renew,
    idle: underWay.idle,
  };
}
