/** What an answer that is no result says of itself, whoever gave it. */
import { type ProblemDetail, problems } from '../errors.ts';
import { asJsonObject, asJsonObjects, type JsonObject, textOrNull } from '../json.ts';
import { readJson, TooLong } from './bounded.ts';

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

/** Problems after which the same payment gets its result, or may: it is under way, owed, was not read, or nobody knows yet. */
const OPEN: readonly string[] = [
  'request_timeout',
  'payment_in_progress',
  'settlement_pending',
  'result_owed',
  'internal_error',
  'store_unavailable',
  'media_unavailable',
  'draining',
  'rate_limited',
  'too_many_requests',
];

/** Problems that are told before a payment is looked at: what was sold once may be gone for a while, or for good. */
const UNREAD: readonly string[] = [
  'unknown_path',
  'method_not_allowed',
  'method_unsupported',
  'body_too_large',
  'unsupported_media_type',
];

/** `isFirst`: of the first answer, before which nobody can have taken anything. */
export const isOpen = (code: string | undefined, isFirst: boolean): boolean =>
  OPEN.includes(code ?? '') || (!isFirst && UNREAD.includes(code ?? ''));

/** Whether an answer says by itself, whatever came before, that nothing is kept of the payment's money. */
export const saysGivenBack = (code: string | undefined): boolean => code === 'refunded';

/** Whether a refusal is the gateway's word that nothing was charged: what is gone was, and so was what has a receipt. */
export const saysUncharged = (code: string | undefined, hasReceipt: boolean): boolean =>
  code !== 'answer_gone' && !hasReceipt;

/** Whether a code is one of a gateway's: what stands in between has codes of its own, which say nothing of a payment. */
export const isOwnCode = (code: string | undefined): boolean => code !== undefined && Object.hasOwn(problems, code);

const detailsIn = (value: unknown): ProblemDetail[] =>
  asJsonObjects(value).map(({ path, message, expected }) => ({
    path: textOrNull(path) ?? '',
    message: textOrNull(message) ?? 'is not right',
    ...(typeof expected === 'string' && { expected }),
  }));

/** Far more than any problem is told in. */
const LARGEST_PROBLEM_MIB = 1;

async function bodyOf(answer: Response): Promise<{ readonly body: JsonObject; readonly isTooLong: boolean }> {
  try {
    return { body: asJsonObject(await readJson(answer, LARGEST_PROBLEM_MIB)), isTooLong: false };
  } catch (error) {
    return { body: {}, isTooLong: error instanceof TooLong };
  }
}

/** Never throws. */
export async function readProblem(answer: Response): Promise<SaidProblem> {
  const { body, isTooLong } = await bodyOf(answer);
  const error = asJsonObject(body.error);
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return {
    status: answer.status,
    code: textOrNull(error.code) ?? undefined,
    message:
      textOrNull(error.message) ??
      textOrNull(body.detail) ??
      textOrNull(body.error) ??
      `the gateway answered ${answer.status}${isTooLong ? ` with more than ${LARGEST_PROBLEM_MIB} MiB` : ''}`,
    details: detailsIn(body.invalidParams ?? error.details),
    requestId: textOrNull(error.requestId) ?? answer.headers.get('request-id') ?? undefined,
    isInvalid: Array.isArray(body.invalidParams) && body.invalidParams.length > 0,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  };
}
