/** The start of one HTTP exchange with an upstream: its turn, its time limit, and what a failure means. */
import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import { readBounded } from '../../bounded-body.ts';
import type { Log } from '../../log.ts';
import { TimeLimit } from '../../time-limit.ts';
import { traceparentOf } from '../../trace.ts';
import { UpstreamProblem } from '../problem.ts';
import type { CircuitBreaker, Ended } from './circuit-breaker.ts';
import type { Gate } from './concurrency.ts';
import { redact, snippet } from './redact.ts';
import { type EncodedBody, withQuery } from './request-body.ts';
import { retryAfterMs, retryableStatuses } from './retry.ts';
import type { Authorize, UpstreamRequest, Within } from './upstream-http.ts';

/** What all requests to one upstream share. */
export interface UpstreamConnection {
  upstream: string;
  pool: Pool;
  gate: Gate;
  circuit: CircuitBreaker;
  authorize: Authorize | undefined;
  /** The upstream's `settings`. */
  settings: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
  timeoutMs: number | undefined;
  /** `status`: undefined where there was no answer. */
  exchanged: ((upstream: string, status: number | undefined, ms: number) => void) | undefined;
  log: Pick<Log, 'warn'> | undefined;
}

export interface PreparedRequest {
  method: UpstreamRequest['method'];
  /** With the base URL's own path and the query, without what `authorize` adds. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: EncodedBody;
  signal: AbortSignal;
  /** Who pays for it, or the key; undefined for nobody. */
  caller: string | undefined;
  within: Within;
  maxBytes: number;
  accept: readonly number[];
}

export interface Failed {
  problem: UpstreamProblem;
  /** Whether trying again makes sense. */
  retryable: boolean;
  retryAfterMs: number | undefined;
}

/** An exchange whose answer has begun: the body is still to come. */
export interface Begun {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: Readable;
  /** What an error while the body is read means, and what it says of the upstream. */
  explain(error: unknown): { failed: Failed; ended: Ended };
  /** Tells the circuit breaker. Once. */
  report(ended: Ended): void;
  /** The upstream's own time limit ends; the request's signal goes on. */
  inTime(): void;
  /** Gives the turn back. Once, when the body has been read or is not wanted. */
  leave(): void;
}

const refusals: ReadonlySet<number> = new Set([401, 402, 403]);

const LONGEST_PATH = 300;

/** For messages. Part of a path may be what the provider handed out. */
export const whereOf = ({ secrets }: UpstreamConnection, { method, path }: PreparedRequest): string =>
  redact(`${method} ${path.split('?', 1)[0]}`, Object.values(secrets)).slice(0, LONGEST_PATH);

export const isAccepted = (status: number, { accept }: PreparedRequest): boolean =>
  (status >= 200 && status < 300) || accept.includes(status);

/** Never rejects for what the upstream does: a failure is an outcome. */
export async function begin(connection: UpstreamConnection, request: PreparedRequest): Promise<Begun | Failed> {
  const where = whereOf(connection, request);
  let giveTurnBack: () => void;
  try {
    giveTurnBack = await connection.gate.enter(request.signal, request.caller);
  } catch {
    return final(new UpstreamProblem('timeout', connection.upstream, `${where}: no turn before the deadline`));
  }
  // After the queue: the circuit may have opened meanwhile.
  if (!connection.circuit.allows(request.caller)) {
    giveTurnBack();
    const message = `${where}: not asked, it failed too often just now`;
    return final(new UpstreamProblem('unavailable', connection.upstream, message));
  }
  const limit = new TimeLimit(request.signal, connection.timeoutMs);
  const startedAt = performance.now();
  let status: number | undefined;
  const leave = () => {
    limit.clear();
    giveTurnBack();
    const ms = performance.now() - startedAt;
    for (const hears of [connection.exchanged, request.within.exchanged]) hears?.(connection.upstream, status, ms);
  };
  const report = (ended: Ended) => {
    if (!connection.circuit.report(ended, request.caller)) return;
    const { requestId } = request.within;
    connection.log?.warn({ requestId, upstream: connection.upstream }, 'upstream keeps failing: not asked for a while');
  };
  const explain = (error: unknown): { failed: Failed; ended: Ended } => {
    if (error instanceof UpstreamProblem) return { failed: final(error), ended: 'abandoned' };
    if (!limit.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = new UpstreamProblem('failed', connection.upstream, `${where}: ${reason}`, { cause: error });
      return { failed: { problem, retryable: true, retryAfterMs: undefined }, ended: 'failure' };
    }
    const late = limit.expired || isTimeout(request.signal.reason);
    const message = `${where}: ${late ? 'no answer in time' : 'abandoned'}`;
    const problem = new UpstreamProblem('timeout', connection.upstream, message);
    // The upstream's own limit alone speaks against it: a caller can ask for what takes longer than any deadline.
    return { failed: final(problem), ended: limit.expired ? 'failure' : 'abandoned' };
  };
  try {
    const answer = await ask(connection, request, limit);
    status = answer.status;
    return { ...answer, explain, report, inTime: () => limit.stopClock(), leave };
  } catch (error) {
    const { failed, ended } = explain(error);
    leave();
    report(ended);
    return failed;
  }
}

/** The failure that an answer with a status that nobody wants is. */
export function unwanted(
  connection: UpstreamConnection,
  request: PreparedRequest,
  answer: Pick<Begun, 'status' | 'headers'>,
  body: Buffer,
): Failed {
  const { status, headers } = answer;
  const failure = refusals.has(status) ? 'unavailable' : 'failed';
  const providerMessage = snippet(body, Object.values(connection.secrets));
  return {
    problem: new UpstreamProblem(failure, connection.upstream, `${whereOf(connection, request)} answered ${status}`, {
      status,
      providerMessage,
    }),
    retryable: retryableStatuses.has(status),
    retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()),
  };
}

/** The whole body. Throws UpstreamProblem `malformed` when it is larger than the request allows. */
export async function collect(
  connection: UpstreamConnection,
  request: PreparedRequest,
  body: Readable,
): Promise<Buffer> {
  const bytes = await readBounded(body, request.maxBytes);
  if (bytes !== undefined) return bytes;
  const message = `${request.method} answered more than ${request.maxBytes} bytes`;
  throw new UpstreamProblem('malformed', connection.upstream, message);
}

/** More than any refusal says: what is longer is cut off. */
const LONGEST_REFUSAL = 262_144;

/**
 * A refusal that an adapter reads itself, without the keys that it may quote, however they are written. Any other answer
 * is as it came unless it quotes a key word for word: parts of it may reach the caller.
 */
export function withoutSecrets(connection: UpstreamConnection, status: number, body: Buffer): Buffer {
  if (status < 400) {
    const quotes = Object.values(connection.secrets).some((secret) => secret !== '' && body.includes(secret));
    return quotes ? Buffer.from(redact(body.toString('utf8'), Object.values(connection.secrets))) : body;
  }
  const text = body.subarray(0, LONGEST_REFUSAL).toString('utf8');
  return Buffer.from(redact(text, Object.values(connection.secrets)));
}

const final = (problem: UpstreamProblem): Failed => ({ problem, retryable: false, retryAfterMs: undefined });

const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError';

async function ask(connection: UpstreamConnection, request: PreparedRequest, signal: TimeLimit) {
  const { method, path, body, within } = request;
  const authorization = connection.authorize?.(
    { method, path, body: body.text },
    connection.secrets,
    connection.settings,
  );
  const answer = await connection.pool.request({
    method,
    path: withQuery(path, authorization?.query),
    headers: {
      ...request.headers,
      ...(within.trace && { traceparent: traceparentOf(within.trace) }),
      ...authorization?.headers,
    },
    body: body.bytes,
    signal,
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status: answer.statusCode, headers, body: answer.body as Readable };
}

/** What an answer's status says of the upstream: whatever it says of the request, it answered. */
export const endedWith = (status: number): Ended => (status >= 500 || status === 429 ? 'failure' : 'success');
