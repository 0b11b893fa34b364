/** What an answer that is no result says of itself, whoever gave it. */
import type { ProblemDetail } from '../errors.ts';
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject, textOrNull } from '../json.ts';

export interface SaidProblem {
  readonly status: number;
  /** Undefined where it has none: a 402, and what is not a gateway's. */
  readonly code: string | undefined;
  readonly message: string;
  readonly details: readonly ProblemDetail[];
  readonly requestId: string | undefined;
  /** Faults of a request that was not paid yet. */
  readonly isInvalid: boolean;
  /** After how many seconds it may be sent again. */
  readonly retryAfter: number | undefined;
}

const detailsIn = (value: unknown): ProblemDetail[] =>
  asJsonObjects(value).map(({ path, message, expected }) => ({
    path: textOrNull(path) ?? '',
    message: textOrNull(message) ?? 'is not right',
    ...(typeof expected === 'string' && { expected }),
  }));

async function bodyOf(answer: Response): Promise<JsonObject> {
  try {
    const body: unknown = await answer.json();
    return isJsonObject(body) ? body : {};
  } catch {
    return {};
  }
}

/** Never throws. */
export async function readProblem(answer: Response): Promise<SaidProblem> {
  const body = await bodyOf(answer);
  const error = asJsonObject(body.error);
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return {
    status: answer.status,
    code: textOrNull(error.code) ?? undefined,
    message:
      textOrNull(error.message) ??
      textOrNull(body.detail) ??
      textOrNull(body.error) ??
      `the gateway answered ${answer.status}`,
    details: detailsIn(body.invalidParams ?? error.details),
    requestId: textOrNull(error.requestId) ?? answer.headers.get('request-id') ?? undefined,
    isInvalid: Array.isArray(body.invalidParams) && body.invalidParams.length > 0,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  };
}
