/**
 * Every problem that a caller can meet, in one table. The README documents the same table, and a test
 * compares the two both ways.
 */
export const problems = {
  invalid_request: { status: 400, title: 'The request does not fit the endpoint: details name each field' },
  invalid_json: { status: 400, title: 'The body is not a JSON object' },
  content_refused: { status: 400, title: 'The provider refused to work on this content' },
  not_found: { status: 400, title: 'What the request names (a token, ticker, user or market) does not exist' },
  several_credentials: { status: 400, title: 'The request carries more than one payment' },
  method_unsupported: { status: 400, title: 'The payment method is not offered here' },
  unreadable_request: { status: 400, title: 'The request is not HTTP' },
  unknown_path: { status: 404, title: 'No endpoint is sold at this path' },
  method_not_allowed: { status: 405, title: 'The endpoint takes another method: see Allow' },
  request_timeout: { status: 408, title: 'The request did not come to its end in time' },
  payment_in_progress: { status: 409, title: 'This payment is being worked on: send the same request again' },
  identifier_taken: { status: 409, title: 'Another payment came with this payment-identifier: nothing was charged' },
  settlement_pending: { status: 409, title: 'The chain has not confirmed yet: send the same request again' },
  answer_gone: { status: 410, title: 'This payment was answered long ago, and its answer is not kept any more' },
  body_too_large: { status: 413, title: 'The body is larger than the endpoint takes' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  too_many_requests: { status: 429, title: 'This payer has the gateway read too much at a time: see Retry-After' },
  rate_limited: { status: 429, title: 'This caller asks for more than it may: see Retry-After' },
  too_many_headers: { status: 431, title: 'The request has more than 100 headers, or more than 16 KB of them' },
  upstream_failed: { status: 500, title: 'The provider failed; nothing was charged' },
  upstream_invalid_result: { status: 500, title: 'The provider answered nonsense; nothing was charged' },
  upstream_timeout: { status: 500, title: 'The provider took too long; nothing was charged' },
  upstream_unavailable: { status: 500, title: 'The provider cannot be used at the moment; nothing was charged' },
  result_owed: { status: 500, title: 'Paid, but no result yet: the same payment gets it later without a new charge' },
  refunded: { status: 500, title: 'There was no result for this payment, and it was given back' },
  internal_error: { status: 500, title: 'The gateway failed; the log has the request id' },
  store_unavailable: { status: 503, title: 'The database cannot be used at the moment: send the same request again' },
  media_unavailable: {
    status: 503,
    title: 'What was made cannot be stored now; nothing was charged: the same payment gets it in a moment',
  },
  draining: { status: 503, title: 'The gateway is shutting down: try again in a moment' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** Refusals of a provider that no repetition of the same request changes: what was paid for it has to be given back. */
export const finalCodes: ReadonlySet<string> = new Set<ProblemCode>([
  'invalid_request',
  'content_refused',
  'not_found',
]);

/** One thing that is wrong with a request: `path` is a JSON pointer into the body or query. */
export interface ProblemDetail {
  path: string;
  message: string;
  expected?: string;
}

/** A problem whose message and details a caller may read. Everything else is an internal error. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetail[] | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ProblemCode,
    message: string = problems[code].title,
    options: { details?: ProblemDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return problems[this.code].status;
  }
}

/** To who asks a path of the gateway's own by another method than the one that it takes. */
export const takesOnly = (allow: 'GET' | 'POST'): Problem =>
  new Problem('method_not_allowed', `This path takes ${allow}`, { headers: { allow } });

/** To whoever comes, or is sent away, while the gateway shuts down. */
export const draining = (message?: string): Problem =>
  new Problem('draining', message, { headers: { 'retry-after': '5', connection: 'close' } });
