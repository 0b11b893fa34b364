import { Pool } from 'undici';
import type { Upstream } from '../../catalogue/types.ts';
import type { Log } from '../../log.ts';
import { connect } from '../../outgoing/connect.ts';
import { UpstreamProblem } from '../problem.ts';
import { type AccessTokens, openAccessTokens, type TokenRequest } from './access-token.ts';
import { attemptOnce } from './attempt.ts';
import type { Failed, PreparedRequest, UpstreamConnection } from './exchange.ts';
import { pathBelow } from './own-address.ts';
import { hiddenOf, redact } from './redact.ts';
import { encodeBody, withQuery } from './request-body.ts';
import { jobDelay, jobSilence, pause, retryDelay } from './retry.ts';
import type { SignedToken } from './signed-token.ts';
import { openStream } from './stream.ts';
import { openTurns, type TurnsAt } from './turns.ts';
import type { AskForToken, Authorize, UpstreamHttp, UpstreamRequest, Within } from './upstream-http.ts';

export interface UpstreamHttpOptions {
  upstream: Upstream;
  /** What says who calls; its `authorize` is left out where the provider needs no key. */
  adapter: { readonly authorize?: Authorize | undefined; readonly tokenRequest?: AskForToken | undefined };
  /** Takes the place of the upstream's own address: a double in the sandbox. */
  baseUrl: string;
  secrets: Readonly<Record<string, string>>;
  /** Longest wait for one answer. Default: as long as the request's signal allows. */
  timeoutMs?: number;
  log?: Pick<Log, 'warn'>;
  /** Told of every exchange, once it is over. */
  exchanged?: UpstreamConnection['exchanged'];
  /** Left out: turns of its own. */
  turnsAt?: TurnsAt | undefined;
  /** Milliseconds, for a circuit breaker of its own; tests set it. */
  now?: () => number;
}

/** Where a double hands out tokens. */
export const DOUBLE_TOKEN_PATH = '/~token';

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

const mayRetry = (
  { idempotent, asksOfJob }: PreparedRequest,
  { retryable, problem: { status = 0 } }: Failed,
): boolean => idempotent && (retryable || (asksOfJob && status >= 500));

/** One per upstream, for as long as its catalogue is on sale: it holds the connections. */
export function openUpstreamHttp(
  options: UpstreamHttpOptions,
): UpstreamHttp & { isShut(): boolean; close(): Promise<void> } {
  const { upstream, baseUrl, log, turnsAt = openTurns(options.now) } = options;
  const base = new URL(baseUrl);
  const basePath = base.pathname.replace(/\/$/, '');
  const { concurrency, gate, circuit } = turnsAt(upstream, baseUrl);
  // Time limits are ours, exact to the millisecond and distinct from the caller's deadline.
  const pool = new Pool(base.origin, { connections: concurrency, connect, headersTimeout: 0, bodyTimeout: 0 });
  const connection: UpstreamConnection = {
    upstream: upstream.name,
    pool,
    gate,
    circuit,
    authorize: options.adapter.authorize,
    host: base.host,
    basePath,
    settings: upstream.settings ?? {},
    secrets: options.secrets,
    hidden: hiddenOf(Object.values(options.secrets)),
    tokens: undefined,
    timeoutMs: options.timeoutMs,
    exchanged: options.exchanged,
    log,
  };

  const isReplaced = baseUrl !== upstream.baseUrl;
  const wanted = options.adapter.tokenRequest?.(options.secrets, connection.settings);
  if (wanted) connection.tokens = openTokens(wanted);

  function openTokens(wanted: TokenRequest | SignedToken): AccessTokens {
    const given = Object.values(options.secrets);
    let last = '';
    return openAccessTokens({
      upstream: upstream.name,
      wanted: placed(wanted),
      secrets: options.secrets,
      // Calls with the one before may still be under way.
      received(value) {
        connection.hidden = hiddenOf([...given, last, value]);
        last = value;
      },
      now: options.now,
    });
  }

  /** A double stands in for the place that hands out tokens as well, wherever that is. */
  function tokenUrl(url: string): string {
    if (isReplaced && !url.startsWith('/')) return base.origin + basePath + DOUBLE_TOKEN_PATH;
    return url.startsWith('/') ? base.origin + basePath + url : url;
  }

  function placed(wanted: TokenRequest | SignedToken): TokenRequest | SignedToken {
    if (!('url' in wanted)) return signing(wanted);
    return { ...wanted, url: tokenUrl(wanted.url), assertion: wanted.assertion && signing(wanted.assertion) };
  }

  /** What a double knows of keys are texts: it can look through a signature by HMAC alone. */
  function signing(token: SignedToken): SignedToken {
    return isReplaced ? { ...token, algorithm: 'HS256' } : token;
  }

  function pathOnTheWire(path: string): string {
    if (path.startsWith('/')) return basePath + path;
    const url = URL.canParse(path) ? new URL(path) : undefined;
    if (url?.origin === base.origin) return url.pathname + url.search;
    // Where a double stands in, an address may still be written as the provider has it.
    const own = url && pathBelow(url.href, upstream.baseUrl);
    if (own !== undefined) return basePath + own;
    const wrong = url ? 'handed out an address at another host' : 'handed out something that is no address';
    throw new UpstreamProblem('malformed', upstream.name, wrong, { providerMessage: path });
  }

  function prepare(request: UpstreamRequest, caller: string | undefined, within: Within): PreparedRequest {
    const body = encodeBody(request);
    return {
      method: request.method,
      path: withQuery(pathOnTheWire(request.path), request.query),
      headers: { 'user-agent': 'turnpike', ...(body.type && { 'content-type': body.type }), ...request.headers },
      body,
      signal: request.signal,
      idempotent: request.idempotent ?? request.method === 'GET',
      asksOfJob: request.asksOfJob ?? false,
      caller,
      within,
      maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
      accept: request.accept ?? [],
    };
  }

  const connectionOf = (caller?: string, within: Within = {}): UpstreamHttp => ({
    upstream: upstream.name,
    baseUrl,
    async request(request) {
      const prepared = prepare(request, caller, within);
      for (let attempt = 0; ; attempt += 1) {
        const silentMs = prepared.asksOfJob ? jobSilence(attempt) : undefined;
        const outcome = await attemptOnce(connection, prepared, silentMs);
        if ('response' in outcome) return outcome.response;
        const delayOf = prepared.asksOfJob ? jobDelay : retryDelay;
        const delay = mayRetry(prepared, outcome) ? delayOf(attempt, outcome.retryAfterMs) : undefined;
        if (delay === undefined || request.signal.aborted) throw outcome.problem;
        const { requestId } = within;
        const problem = outcome.problem.message;
        log?.warn({ requestId, upstream: upstream.name, problem, delay: Math.round(delay) }, 'retrying');
        await pause(delay, request.signal).catch(() => {
          throw outcome.problem;
        });
      }
    },
    redact: (text) => redact(text, connection.hidden.texts),
    redactAnswer: (text) => redact(text, connection.hidden.inAnswers),
    stream: async (request) => openStream(connection, prepare(request, caller, within)),
    forCaller: connectionOf,
  });

  return { ...connectionOf(), isShut: circuit.isOpen, close: () => pool.destroy() };
}
