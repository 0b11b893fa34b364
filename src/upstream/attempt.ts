/** One HTTP exchange with an upstream: its turn, its time limit, and what its outcome means. */
import type { Pool } from 'undici';
import type { Adapter } from './adapter.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Gate } from './concurrency.ts';
import type { UpstreamLog, UpstreamResponse } from './http.ts';
import { UpstreamProblem } from './problem.ts';
import { snippet } from './redact.ts';
import { type EncodedBody, withQuery } from './request-body.ts';
import { retryAfterMs, retryableStatuses } from './retry.ts';

/** What all requests to one upstream share. */
export interface Line {
  upstream: string;
  pool: Pool;
  gate: Gate;
  circuit: CircuitBreaker;
  authorize: Adapter['authorize'];
  secrets: Readonly<Record<string, string>>;
  timeoutMs: number | undefined;
  log: UpstreamLog | undefined;
}

export interface PreparedRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With the base URL's own path and the query, without what `authorize` adds. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: EncodedBody;
  signal: AbortSignal;
  maxBytes: number;
  accept: readonly number[];
}

export type Outcome =
  | { response: UpstreamResponse }
  | { problem: UpstreamProblem; retryable: boolean; retryAfterMs: number | undefined };

const refusals: ReadonlySet<number> = new Set([401, 402, 403]);

/** Never rejects for what the upstream does: a failure is an outcome, with whether trying again makes sense. */
export async function attemptOnce(line: Line, request: PreparedRequest): Promise<Outcome> {
  const where = `${request.method} ${request.path.split('?', 1)[0]}`;
  const fail = (problem: UpstreamProblem, retryable = false, wait?: number): Outcome => ({
    problem,
    retryable,
    retryAfterMs: wait,
  });
  let leave: () => void;
  try {
    leave = await line.gate.enter(request.signal);
  } catch {
    return fail(new UpstreamProblem('timeout', line.upstream, `${where}: no turn before the deadline`));
  }
  // After the queue: the circuit may have opened meanwhile.
  if (!line.circuit.allows()) {
    leave();
    return fail(new UpstreamProblem('unavailable', line.upstream, `${where}: not asked, it failed too often just now`));
  }
  const limit = limitTime(request.signal, line.timeoutMs);
  let ended: 'success' | 'failure' | 'abandoned' = 'failure';
  try {
    const { status, headers, body } = await exchange(line, request, limit.signal);
    ended = status < 500 ? 'success' : 'failure';
    if ((status >= 200 && status < 300) || request.accept.includes(status)) {
      return { response: answered(line, where, request, { status, headers, body }) };
    }
    const failure = refusals.has(status) ? 'unavailable' : 'failed';
    const message = `${where} answered ${status}: ${snippet(body, Object.values(line.secrets))}`;
    const problem = new UpstreamProblem(failure, line.upstream, message, { status });
    return fail(problem, retryableStatuses.has(status), retryAfterMs(headers['retry-after'], Date.now()));
  } catch (error) {
    if (error instanceof UpstreamProblem) return fail(error);
    if (!limit.signal.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      return fail(new UpstreamProblem('failed', line.upstream, `${where}: ${reason}`, { cause: error }), true);
    }
    // A deadline speaks against the upstream, a shutdown or a caller's own reason does not.
    const late = limit.expired() || isTimeout(request.signal.reason);
    if (!late) ended = 'abandoned';
    return fail(new UpstreamProblem('timeout', line.upstream, `${where}: ${late ? 'no answer in time' : 'abandoned'}`));
  } finally {
    limit.clear();
    leave();
    if (line.circuit.report(ended)) line.log?.warn({ upstream: line.upstream }, 'upstream keeps failing: not asked for a while');
  }
}

const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError';

interface Exchanged {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

async function exchange(line: Line, request: PreparedRequest, signal: AbortSignal): Promise<Exchanged> {
  const { method, path, body } = request;
  const authorization = line.authorize?.({ method, path, body: body.text }, line.secrets);
  const answer = await line.pool.request({
    method,
    path: withQuery(path, authorization?.query),
    headers: { ...request.headers, ...authorization?.headers },
    body: body.bytes,
    signal,
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    if (size > request.maxBytes) {
      throw new UpstreamProblem('malformed', line.upstream, `${method} answered more than ${request.maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) };
}

function answered(line: Line, where: string, request: PreparedRequest, exchanged: Exchanged): UpstreamResponse {
  return {
    ...exchanged,
    sent: request.body.text,
    json() {
      try {
        return JSON.parse(exchanged.body.toString('utf8'));
      } catch {
        const start = snippet(exchanged.body, Object.values(line.secrets));
        throw new UpstreamProblem('malformed', line.upstream, `${where} answered no JSON: ${start}`);
      }
    },
  };
}

/** The caller's signal and the upstream's own limit as one signal. */
function limitTime(signal: AbortSignal, milliseconds: number | undefined) {
  const controller = new AbortController();
  let expired = false;
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  signal.addEventListener('abort', forward, { once: true });
  const timer =
    milliseconds === undefined
      ? undefined
      : setTimeout(() => {
          expired = true;
          controller.abort();
        }, milliseconds);
  return {
    signal: controller.signal,
    expired: () => expired,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', forward);
    },
  };
}
