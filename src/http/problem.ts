/** How problems look on the wire. */
import { Problem } from '../errors.ts';
import type { Answer } from '../payment/rail.ts';

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
