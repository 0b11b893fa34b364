/** How problems look on the wire. */
import { Problem, type ProblemCode } from '../errors.ts';
import type { Answer } from '../payment/rail.ts';
import type { UpstreamFailure } from '../upstream/problem.ts';

/** What a caller is told of an upstream that failed. */
export const upstreamCodes: Record<UpstreamFailure, ProblemCode> = {
  failed: 'upstream_failed',
  timeout: 'upstream_timeout',
  malformed: 'upstream_invalid_result',
  unavailable: 'upstream_unavailable',
  'content-refused': 'content_refused',
  'not-found': 'not_found',
  'invalid-input': 'invalid_request',
};

/** The shared error body. An error that is not a Problem tells the caller nothing but the request id. */
export function problemAnswer(error: unknown, requestId: string): Answer {
  const problem = error instanceof Problem ? error : new Problem('internal_error');
  const { code, message, details, status, headers } = problem;
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ error: { code, message, ...(details ? { details } : {}), requestId } }),
  };
}
