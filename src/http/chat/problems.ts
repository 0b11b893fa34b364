/** Errors as OpenAI has them: `{"error": {"message", "type", "param", "code"}}`. Source: openai-openapi 2.3.0. */
import { Problem, type ProblemCode, problems } from '../../errors.ts';
import { upstreamCodes } from '../../lifecycle/upstream-codes.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';

/** What this door alone answers. The other codes are those of `src/errors.ts`. */
export const doorProblems = {
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
  model_not_allowed: { status: 403, type: 'permission_error', title: 'The API key is not for this model' },
  call_limit_exceeded: {
    status: 403,
    type: 'permission_error',
    title: 'The call may cost more than the API key allows for one',
  },
  daily_limit_exceeded: { status: 429, type: 'rate_limit_error', title: 'The API key has spent what it may in a day' },
  model_not_found: { status: 404, type: 'invalid_request_error', title: 'No model of that name is sold here' },
  invalid_value: { status: 400, type: 'invalid_request_error', title: 'A parameter has a value that it does not take' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error', title: 'A parameter is not supported here' },
} as const satisfies Record<string, { status: number; type: string; title: string }>;

export type DoorCode = keyof typeof doorProblems;

/** A problem that a caller of this door may read. */
export class DoorProblem extends Error {
  readonly code: DoorCode;
  /** The parameter at fault: `messages[0].content`. */
  readonly param: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Further fields of the error, for programs. */
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    code: DoorCode,
    message: string,
    options: {
      param?: string;
      headers?: Readonly<Record<string, string>>;
      facts?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'DoorProblem';
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
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { status, headers: {}, error: { message, type, param: param ?? null, code } };
}

/** An error that is none of ours tells the caller nothing. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof DoorProblem) {
    const { status, type } = doorProblems[error.code];
    const { message, param, code, headers, facts } = error;
    return { status, headers, error: { message, type, param: param ?? null, code, ...facts } };
  }
  if (error instanceof Problem) {
    return { ...general(error.code, error.message, error.details?.[0]?.path), headers: error.headers };
  }
  if (error instanceof UpstreamProblem) {
    const code = upstreamCodes[error.failure];
    return general(code, error.publicMessage ?? problems[code].title);
  }
  return general('internal_error', problems.internal_error.title);
}
