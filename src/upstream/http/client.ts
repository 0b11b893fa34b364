/** The one way out to providers. Interfaces first; `openUpstreamHttp` below builds one per upstream. */
import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { parseDuration } from '../../catalogue/duration.ts';
import type { Upstream } from '../../catalogue/types.ts';
import type { Adapter } from '../adapter.ts';
import { UpstreamProblem } from '../problem.ts';
import { attemptOnce } from './attempt.ts';
import { openCircuitBreaker } from './circuit-breaker.ts';
import { openGate } from './concurrency.ts';
import type { Line, PreparedRequest } from './exchange.ts';
import { encodeBody, withQuery } from './request-body.ts';
import { pause, retryDelay } from './retry.ts';
import { openStream } from './stream.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the upstream's base URL, with a leading slash, or an absolute URL that the same upstream handed out. */
  path: string;
  /** Undefined and empty values are left out. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as multipart/form-data, in this order. */
  form?: readonly FormPart[];
  /** Repeating it does no harm: it may be retried on 429, 502, 503 and 504. Default: true for GET only. */
  idempotent?: boolean;
  signal: AbortSignal;
  /** Default: 32 MB. */
  maxBytes?: number;
  /** Statuses besides 2xx that the adapter wants to read itself. */
  accept?: readonly number[];
}

export interface FormPart {
  name: string;
  value: string | { bytes: Uint8Array; fileName: string; type: string };
}

export interface UpstreamResponse {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The exact bytes that came. */
  body: Buffer;
  /** The exact body that was sent, empty for none: what hashes are taken of. */
  sent: string;
  /** Parses the body. Throws UpstreamProblem `malformed`. */
  json(): unknown;
}

/** An answer that still comes. The body must be read to its end or destroyed: it holds one of the upstream's turns. */
export interface UpstreamStream {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Readable;
  /** What an error of `body` means. */
  problemOf(error: unknown): UpstreamProblem;
}

export interface UpstreamHttp {
  /** Name in `upstreams.yaml`, for problems and logs. */
  readonly upstream: string;
  readonly baseUrl: string;
  /** Throws UpstreamProblem: `failed` (unreachable, 4xx and 5xx), `timeout`, `unavailable` (401, 402, 403, open circuit), `malformed` (too large). */
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** The same, for an answer that is passed on while it comes. Asked once, `idempotent` or not; `maxBytes` is for failures. */
  stream(request: UpstreamRequest): Promise<UpstreamStream>;
}

/** Where this layer reports what an operator should know and no call shows; pino's signature. */
export interface UpstreamLog {
  debug(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface UpstreamHttpOptions {
  upstream: Upstream;
  adapter: Pick<Adapter, 'authorize'>;
  /** Takes the place of the upstream's own address: a double in the sandbox. */
  baseUrl: string;
  secrets: Readonly<Record<string, string>>;
  /** Longest wait for one answer. Default: as long as the request's signal allows. */
  timeoutMs?: number;
  log?: UpstreamLog;
  /** Milliseconds, for the circuit breaker; tests set it. */
  now?: () => number;
}

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;
const DEFAULT_CONCURRENCY = 64;
const CIRCUIT = { failures: 10, coolDownMs: 5_000 };

/** One per upstream, for the life of the process: it holds the connections, the limits and the circuit breaker. */
export function openUpstreamHttp(options: UpstreamHttpOptions): UpstreamHttp & { close(): Promise<void> } {
  const { upstream, baseUrl, log } = options;
  const base = new URL(baseUrl);
  const basePath = base.pathname.replace(/\/$/, '');
  const concurrency = upstream.concurrency ?? DEFAULT_CONCURRENCY;
  const spacingMs = upstream.spacing === undefined ? 0 : parseDuration(upstream.spacing);
  if (spacingMs === undefined)
    throw new Error(`upstream ${upstream.name}: spacing ${upstream.spacing} is not a duration`);
  // Time limits are ours, exact to the millisecond and told apart from the caller's deadline.
  const pool = new Pool(base.origin, { connections: concurrency, headersTimeout: 0, bodyTimeout: 0 });
  const line: Line = {
    upstream: upstream.name,
    pool,
    gate: openGate({ concurrency, spacingMs }),
    circuit: openCircuitBreaker({ ...CIRCUIT, now: options.now ?? (() => performance.now()) }),
    authorize: options.adapter.authorize,
    secrets: options.secrets,
    timeoutMs: options.timeoutMs,
    log,
  };

  function pathOnTheWire(path: string): string {
    if (path.startsWith('/')) return basePath + path;
    const url = new URL(path);
    if (url.origin === base.origin) return url.pathname + url.search;
    throw new UpstreamProblem('malformed', upstream.name, `handed out an address at another host: ${url.origin}`);
  }

  function prepare(request: UpstreamRequest): PreparedRequest {
    const body = encodeBody(request);
    return {
      method: request.method,
      path: withQuery(pathOnTheWire(request.path), request.query),
      headers: { 'user-agent': 'turnpike', ...(body.type && { 'content-type': body.type }), ...request.headers },
      body,
      signal: request.signal,
      maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
      accept: request.accept ?? [],
    };
  }

  return {
    upstream: upstream.name,
    baseUrl,
    async request(request) {
      const prepared = prepare(request);
      const idempotent = request.idempotent ?? request.method === 'GET';
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await attemptOnce(line, prepared);
        if ('response' in outcome) return outcome.response;
        const delay = idempotent && outcome.retryable ? retryDelay(attempt, outcome.retryAfterMs) : undefined;
        if (delay === undefined || request.signal.aborted) throw outcome.problem;
        log?.warn({ upstream: upstream.name, problem: outcome.problem.message, delay: Math.round(delay) }, 'retrying');
        await pause(delay, request.signal).catch(() => {
          throw outcome.problem;
        });
      }
    },
    stream: async (request) => openStream(line, prepare(request)),
    close: () => pool.destroy(),
  };
}
