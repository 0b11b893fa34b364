import type { ProblemCode } from '../errors.ts';
import type { UpstreamFailure } from '../upstream/problem.ts';

/** What a caller learns of an upstream that failed. */
export const upstreamCodes: Record<UpstreamFailure, ProblemCode> = {
  failed: 'upstream_failed',
  timeout: 'upstream_timeout',
  malformed: 'upstream_invalid_result',
  unavailable: 'upstream_unavailable',
  throttled: 'too_many_requests',
  'content-refused': 'content_refused',
  'not-found': 'not_found',
  'invalid-input': 'invalid_request',
};
