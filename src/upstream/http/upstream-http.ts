/** The one way out to providers, as adapters see it. `openUpstreamHttp` in `client.ts` builds one per upstream. */
import type { Readable } from 'node:stream';
import type { Trace } from '../../request/trace.ts';
import type { UpstreamProblem } from '../problem.ts';
import type { TokenRequest } from './access-token.ts';
import type { SignedToken } from './signed-token.ts';

type QueryValue = string | number | boolean | undefined;

export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the upstream's base URL, with a leading slash, or an absolute URL that the same upstream handed out. */
  path: string;
  /** Undefined and empty values are left out; a list is a parameter that is repeated. */
  query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as application/x-www-form-urlencoded, in this order. */
  form?: readonly (readonly [name: string, value: string])[];
  /** Sent as multipart/form-data, in this order. */
  parts?: readonly FormPart[];
  /** Repeating it does no harm: it may be retried on 408, 429, 502, 503 and 504. Default: true for GET only. */
  idempotent?: boolean;
  /** Asks how a job stands, which is billed: it is retried on every 5xx, where nothing comes, and for longer, and asked of an upstream that keeps failing. */
  asksOfJob?: boolean;
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
  /** Parses the body, or what is made of its text. Throws UpstreamProblem `malformed`. */
  json(made?: (text: string) => string): unknown;
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

/** The request that is answered with the upstream's help. */
export interface Within {
  readonly requestId?: string | undefined;
  readonly trace?: Trace | undefined;
  /** Hears of every exchange, once it is over; no status: there was no answer. */
  readonly exchanged?: ((upstream: string, status: number | undefined, ms: number) => void) | undefined;
  /** False once nothing may be begun for it any more. Left out: always true. */
  mayGoOn?(): boolean;
}

export interface UpstreamHttp {
  /** Name in `upstreams.yaml`, for problems and logs. */
  readonly upstream: string;
  readonly baseUrl: string;
  /** Throws UpstreamProblem: `failed` (unreachable, 4xx and 5xx), `timeout`, `unavailable` (401, 402, 403, open circuit), `malformed` (too large). */
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** The same, for an answer that is passed on while it comes. Asked once, `idempotent` or not; what is in `accept` is read first, and `maxBytes` is for that and for failures. */
  stream(request: UpstreamRequest): Promise<UpstreamStream>;
  /** What the upstream says of a failure, without the keys that it may quote, however they are written there. */
  redact(text: string): string;
  /** The same for a text that is sold, where short words stay what they are. */
  redactAnswer(text: string): string;
  /** The same upstream for one caller (who pays, or an API key): its turns are shared between callers, its failures counted by them. */
  forCaller(caller: string, within?: Within): UpstreamHttp;
}

/** The part of a provider's wire protocol that says who calls. */
export interface Authorization {
  /** The same path and query, written as they were signed; left out: as they were given. */
  readonly path?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Stands between the base URL's path and the request's own, as it is sent: `/bot123`. */
  readonly prefix?: string | undefined;
}

/** A request as it is about to be sent, for those who sign it. */
export interface Signable {
  readonly method: string;
  /** With its port, unless that is the usual one. */
  readonly host: string;
  /** With the query. */
  readonly path: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** As text; empty for none and for parts. */
  readonly body: string;
  readonly bytes: Buffer | string | undefined;
}

/** Called for every attempt. `secrets` are by the adapter's names, `settings` the upstream's. */
export type Authorize = (
  request: Signable,
  secrets: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>>,
) => Authorization;

/**
 * How the token is had that each call carries as a bearer token: asked for, or signed here; undefined where calls carry the keys
 * themselves. `url` may be a path below the upstream's address.
 */
export type AskForToken = (
  secrets: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>>,
) => TokenRequest | SignedToken | undefined;
