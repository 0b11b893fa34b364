/** Errors as OpenAI has them: `{"error": {"message", "type", "param", "code"}}`. Source: openai-openapi 2.3.0. */
import { Problem, type ProblemCode, problems } from '../../errors.ts';
import { upstreamCodes } from '../../lifecycle/upstream-codes.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';

/** What calls with an API key alone answer. The other codes are those of `src/errors.ts`. */
export const apiKeyProblems = {
  invalid_api_key: {
    status: 401,
    type: 'invalid_request_error',
    title: 'The API key is missing, unknown, disabled or expired',
  },
  insufficient_credits: {
    status: 402,
    type: 'insufficient_quota',
    title: 'The balance is smaller than what the call may cost',
  },
  payment_refused: {
    status: 402,
    type: 'invalid_request_error',
    title: 'The payment that came with the call was not taken, and nothing was charged',
  },
  credits_pending: {
    status: 409,
    type: 'invalid_request_error',
    title: 'Enough is paid for the call already, and counts in a moment: see Retry-After',
  },
  call_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    title: 'A call with the same Idempotency-Key has not ended: see Retry-After',
  },
  model_not_allowed: { status: 403, type: 'permission_error', title: 'The API key is not for this model' },
  call_limit_exceeded: {
    status: 403,
    type: 'permission_error',
    title: 'The call may cost more than the API key allows for one',
  },
  daily_limit_exceeded: { status: 429, type: 'rate_limit_error', title: 'The API key has spent what it may in a day' },
  too_many_calls: {
    status: 429,
    type: 'rate_limit_error',
    title: 'The API key has as many calls under way as it may have at a time',
  },
  model_not_found: { status: 404, type: 'invalid_request_error', title: 'No model of that name is sold here' },
  invalid_value: { status: 400, type: 'invalid_request_error', title: 'A parameter has a value that it does not take' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error', title: 'A parameter is not supported here' },
} as const satisfies Record<string, { status: number; type: string; title: string }>;

export type ApiKeyProblemCode = keyof typeof apiKeyProblems;

/** A problem that a caller with an API key may read. */
export class ApiKeyProblem extends Error {
  readonly code: ApiKeyProblemCode;
  /** The parameter at fault: `messages[0].content`. */
  readonly param: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Further fields of the error, for programs. */
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    code: ApiKeyProblemCode,
    message: string,
    options: {
      param?: string;
      headers?: Readonly<Record<string, string>>;
      facts?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'ApiKeyProblem';
    this.code = code;
    this.param = options.param;
    this.headers = options.headers ?? {};
    this.facts = options.facts ?? {};
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: { message: string; type: string; param: string | null; code: string };
}

function general(code: ProblemCode, message: string, param?: string): ErrorAnswer {
  const { status } = problems[code];
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return { status, headers: {}, error: { message, type, param: param ?? null, code } };
}

/** OpenAI's client for JavaScript sleeps however long it is told, before it says a word; the one for Python does not wait. */
const LONGEST_WAIT_SECONDS = 60;

/** An error that is none of ours says nothing to the caller. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof ApiKeyProblem) {
    const { status, type } = apiKeyProblems[error.code];
    const { message, param, code, headers, facts } = error;
    return { status, headers, error: { message, type, param: param ?? null, code, ...facts } };
  }
  if (error instanceof Problem) {
    const { code, message, details, headers } = error;
    const isLong = Number(headers['retry-after'] ?? 0) > LONGEST_WAIT_SECONDS;
    return {
      ...general(code, message, details?.[0]?.path),
      headers: isLong ? { ...headers, 'x-should-retry': 'false' } : headers,
    };
  }
  if (error instanceof UpstreamProblem) {
    const code = upstreamCodes[error.failure];
    return general(code, error.publicMessage ?? problems[code].title);
  }
  return general('internal_error', problems.internal_error.title);
}

/** For a stream that breaks off after part of the answer went out. */
export const brokenOff = (error: unknown): ErrorAnswer['error'] => ({
  ...errorAnswer(error).error,
  message: 'The answer broke off here; what came of it was charged',
});
