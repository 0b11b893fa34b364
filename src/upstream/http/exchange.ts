/** The start of one HTTP exchange with an upstream: its turn, its time limit, and what a failure means. */
import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import type { Log } from '../../log.ts';
import { TimeLimit } from '../../outgoing/time-limit.ts';
import { type WholeAnswer, wholeAnswer } from '../../outgoing/whole-answer.ts';
import { traceparentOf } from '../../request/trace.ts';
import { isTimeout } from '../../timing.ts';
import { UpstreamProblem } from '../problem.ts';
import type { AccessTokens } from './access-token.ts';
import { readBounded } from './bounded-body.ts';
import type { CircuitBreaker, Ended } from './circuit-breaker.ts';
import type { Gate } from './concurrency.ts';
import { type Hidden, redact, snippet } from './redact.ts';
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
  /** Of the base URL, as the header of that name says it. */
  host: string;
  /** Of the base URL, without a / at its end. */
  basePath: string;
  /** The upstream's `settings`. */
  settings: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
  /** What nobody is to read: the secrets, and tokens that were handed out for them. */
  hidden: Hidden;
  /** Undefined: calls carry the keys themselves. */
  tokens: AccessTokens | undefined;
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
  /** Repeating it does no harm. */
  idempotent: boolean;
  /** Asks how a job stands, which is paid for. */
  asksOfJob: boolean;
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

/** An exchange that has an answer: all of it, or its beginning, whose body is still to come. */
export interface Begun<Body> {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: Body;
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
export const whereOf = ({ hidden }: UpstreamConnection, { method, path }: PreparedRequest): string =>
  redact(`${method} ${path.split('?', 1)[0]}`, hidden.texts).slice(0, LONGEST_PATH);

export const isAccepted = (status: number, { accept }: PreparedRequest): boolean =>
  (status >= 200 && status < 300) || accept.includes(status);

/** Asks; `began` is told the status as soon as there is one. */
type Ask<Body> = (
  connection: UpstreamConnection,
  request: PreparedRequest,
  limit: TimeLimit,
  began: (status: number) => void,
) => Promise<Pick<Begun<Body>, 'status' | 'headers' | 'body'>>;

/**
 * Never rejects for what the upstream does: a failure is an outcome. `ask` is `askWhole` or `askForStream`; `silentMs` as
 * for TimeLimit.
 */
export async function begin<Body>(
  connection: UpstreamConnection,
  request: PreparedRequest,
  ask: Ask<Body>,
  silentMs?: number,
): Promise<Begun<Body> | Failed> {
  const where = whereOf(connection, request);
  let giveTurnBack: () => void;
  try {
    giveTurnBack = await connection.gate.enter(request.signal, request.caller);
  } catch {
    return final(new UpstreamProblem('timeout', connection.upstream, `${where}: no turn before the deadline`));
  }
  // After the queue, which may be long: the work may have become another instance's meanwhile.
  if (!request.idempotent && request.within.mayGoOn?.() === false) {
    giveTurnBack();
    const message = `${where}: not asked, the work may be another instance's by now`;
    return final(new UpstreamProblem('timeout', connection.upstream, message));
  }
  // The circuit may have opened meanwhile. How a job stands is asked all the same: it is billed.
  if (!request.asksOfJob && !connection.circuit.allows(request.caller)) {
    giveTurnBack();
    const message = `${where}: not asked, it failed too often just now`;
    return final(new UpstreamProblem('unavailable', connection.upstream, message));
  }
  const limit = new TimeLimit(request.signal, connection.timeoutMs, silentMs);
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
    if (error instanceof UpstreamProblem) {
      // No token was handed out: that passes, as when the upstream itself fails.
      if (error.failure !== 'failed') return { failed: final(error), ended: 'abandoned' };
      return { failed: { ...final(error), retryable: true }, ended: 'failure' };
    }
    if (!limit.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = new UpstreamProblem('failed', connection.upstream, `${where}: ${reason}`, { cause: error });
      return { failed: { problem, retryable: true, retryAfterMs: undefined }, ended: 'failure' };
    }
    const late = limit.expired || isTimeout(request.signal.reason);
    const message = `${where}: ${late ? 'no answer in time' : 'abandoned'}`;
    const problem = new UpstreamProblem('timeout', connection.upstream, message);
    if (limit.expired && request.asksOfJob)
      return { failed: { problem, retryable: true, retryAfterMs: 0 }, ended: 'abandoned' };
    // The upstream's own limit alone speaks against it: a caller can ask for what takes longer than any deadline.
    return { failed: final(problem), ended: limit.expired ? 'failure' : 'abandoned' };
  };
  try {
    const answer = await ask(connection, request, limit, (code) => {
      status = code;
    });
    const { status: answered, headers, body } = answer;
    return { status: answered, headers, body, explain, report, inTime: () => limit.stopClock(), leave };
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
  answer: Pick<Begun<unknown>, 'status' | 'headers'>,
  body: Buffer,
): Failed {
  const { status, headers } = answer;
  const failure = refusals.has(status) ? 'unavailable' : 'failed';
  const providerMessage = snippet(body, connection.hidden.texts);
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
  throw tooLarge(connection, request);
}

const tooLarge = ({ upstream }: UpstreamConnection, { method, maxBytes }: PreparedRequest): UpstreamProblem =>
  new UpstreamProblem('malformed', upstream, `${method} answered more than ${maxBytes} bytes`);

/** More than any refusal says: what is longer is cut off. */
const LONGEST_REFUSAL = 262_144;

/**
 * An answer without the keys that it may quote, however they are written: parts of it may reach the caller. One without a
 * hint of a key is as it came.
 */
export function withoutSecrets({ hidden }: UpstreamConnection, status: number, body: Buffer): Buffer {
  if (status >= 400) return Buffer.from(redact(body.subarray(0, LONGEST_REFUSAL).toString('utf8'), hidden.texts));
  if (!hidden.hints.some((hint) => body.includes(hint))) return body;
  const text = body.toString('utf8');
  const shown = redact(text, hidden.inAnswers);
  // A file is no text.
  return shown === text ? body : Buffer.from(shown);
}

const final = (problem: UpstreamProblem): Failed => ({ problem, retryable: false, retryAfterMs: undefined });

/** An address that the provider handed out has it already, or is none of those below the base URL. */
function withPrefix(path: string, basePath: string, prefix: string | undefined): string {
  const rest = path.slice(basePath.length);
  const isBelow = path.startsWith(basePath) && /^(?:$|[/?])/.test(rest);
  if (prefix === undefined || !isBelow || rest.startsWith(prefix)) return path;
  // A path that is / alone adds nothing to it.
  return basePath + prefix + rest.replace(/^\/(?=\?|$)/, '');
}

/** As it goes to undici, with what says who calls. */
function onTheWire(connection: UpstreamConnection, request: PreparedRequest, token?: string) {
  const { method, path, headers, body, within } = request;
  const authorization = connection.authorize?.(
    { method, host: connection.host, path, headers, body: body.text, bytes: body.bytes },
    connection.secrets,
    connection.settings,
  );
  return {
    method,
    path: withQuery(
      withPrefix(authorization?.path ?? path, connection.basePath, authorization?.prefix),
      authorization?.query,
    ),
    headers: {
      ...headers,
      ...(within.trace && { traceparent: traceparentOf(within.trace) }),
      ...authorization?.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: body.bytes,
  };
}

type Wire = ReturnType<typeof onTheWire>;

/** Asks with a token where one is needed, and once more where it is refused and another one may not be. */
async function withToken<Answer extends { readonly status: number }>(
  connection: UpstreamConnection,
  request: PreparedRequest,
  limit: TimeLimit,
  ask: (wire: Wire) => Promise<Answer>,
  leave: (refused: Answer) => void,
): Promise<Answer> {
  const { tokens } = connection;
  if (!tokens) return await ask(onTheWire(connection, request));
  const { value, isNew } = await tokens.get(limit);
  const answer = await ask(onTheWire(connection, request, value));
  if (answer.status !== 401) return answer;
  tokens.forget(value);
  if (isNew) return answer;
  leave(answer);
  return await ask(onTheWire(connection, request, (await tokens.get(limit)).value));
}

/** Those of one name as one line. */
function inLines(answered: WholeAnswer['headers']): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answered)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

/** The body is read by whoever wants it. */
export const askForStream: Ask<Readable> = async (connection, request, limit, began) => {
  const ask = async (wire: Wire) => {
    const { statusCode: status, headers, body } = await connection.pool.request({ ...wire, signal: limit });
    return { status, headers, body };
  };
  const leave = ({ body }: { body: Readable }) => void body.on('error', () => {}).destroy();
  const answer = await withToken(connection, request, limit, ask, leave);
  began(answer.status);
  return { status: answer.status, headers: inLines(answer.headers), body: answer.body };
};

/** Rejects with UpstreamProblem `malformed` where the answer is larger than the request allows. */
export const askWhole: Ask<Buffer> = async (connection, request, limit, began) => {
  const { maxBytes } = request;
  const bounds = { maxBytes, limit, began };
  const ask = (wire: Wire) => wholeAnswer(connection.pool, wire, bounds);
  const { status, headers, body } = await withToken(connection, request, limit, ask, () => undefined);
  if (!body) throw tooLarge(connection, request);
  return { status, headers: inLines(headers), body };
};

/** What an answer's status says of the upstream: whatever it says of the request, it answered. */
export const endedWith = (status: number): Ended => (status >= 500 || status === 429 ? 'failure' : 'success');
