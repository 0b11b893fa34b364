/** A stand-in for a provider: it speaks the provider's real wire protocol on loopback. One file per adapter. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonSchema, Upstream, UpstreamOptions } from '../../catalogue/types.ts';

/**
 * How a billed call can be made to fail. `timeout` never answers, `refuse` is the protocol's own refusal, `forge` an
 * answer whose proof is false, where the protocol has proofs.
 */
export const faults = ['500', '429', 'timeout', 'malformed', 'refuse', 'forge'] as const;
export type Fault = (typeof faults)[number];

export interface DoubleRequest {
  readonly method: string;
  /** As it was asked for: with where the double is mounted, and the query. */
  readonly target: string;
  /** Below the place where the double is mounted, decoded: `/chat/completions`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The address that the double is mounted at, for addresses that it hands out. */
  readonly base: string;
}

export interface DoubleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string | AsyncIterable<string>;
}

export interface Double {
  /** The protocol's 401 when the request carries no sandbox key, else undefined. Left out: needs no key. */
  unauthorized?(request: DoubleRequest): DoubleAnswer | undefined;
  /** True for the call that the provider charges for; faults and counts apply to these alone. */
  isBilled(request: DoubleRequest): boolean;
  answer(request: DoubleRequest): DoubleAnswer | Promise<DoubleAnswer>;
  /** The body of the protocol's error answers. */
  errorBody(status: 429 | 500): unknown;
  refuse(request: DoubleRequest): DoubleAnswer;
  /** Left out: the protocol has no proofs. */
  forge?(request: DoubleRequest): DoubleAnswer | Promise<DoubleAnswer>;
}

/** How an endpoint uses the upstream, and what it makes of the answer. */
export interface DoubleUse {
  readonly options: UpstreamOptions;
  readonly result: JsonSchema;
}

export interface DoubleKind {
  /** The adapter that it stands opposite. */
  readonly adapter: string;
  /** True where it answers by its uses. */
  readonly followsUses?: boolean;
  open(upstream: Upstream, uses: readonly DoubleUse[]): Double;
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): DoubleAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** The body as a JSON object; empty for anything else. */
export function jsonBody(request: DoubleRequest): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(request.body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const KEY_PREFIX = 'sandbox-';

/** What stands in for a provider's key in the sandbox: doubles take this and nothing else. */
export const sandboxSecret = (variable: string): string => KEY_PREFIX + variable.toLowerCase();

export const hasBearerKey = (request: DoubleRequest): boolean =>
  request.headers.authorization?.startsWith(`Bearer ${KEY_PREFIX}`) === true;

export const hasHeaderKey = (request: DoubleRequest, header: string): boolean =>
  String(request.headers[header] ?? '').startsWith(KEY_PREFIX);
