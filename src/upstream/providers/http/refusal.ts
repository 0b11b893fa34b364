/** Answers that are no results, as an endpoint's `status` and `failed` say. */
import { holds } from '../../jmespath.ts';
import { type UpstreamFailure, UpstreamProblem } from '../../problem.ts';
import type { HttpOptions } from './options.ts';

const publicMessages: Partial<Record<UpstreamFailure, string>> = {
  'not-found': 'The provider knows nothing under these values',
  'invalid-input': 'The provider does not take these values',
  'content-refused': 'The provider refused to work on this content',
};

/** Throws UpstreamProblem where the options say that an answer of this status is a refusal. */
export function refuseBy(
  { status: meanings, path }: Pick<HttpOptions, 'status' | 'path'>,
  method: string,
  status: number,
  body: Buffer,
  upstream: string,
): void {
  const failure = meanings?.[status];
  if (failure === undefined) return;
  const publicMessage = publicMessages[failure];
  const providerMessage = body.toString('utf8');
  throw new UpstreamProblem(failure, upstream, `${method} ${path} answered ${status}`, {
    status,
    providerMessage,
    ...(publicMessage && { publicMessage }),
  });
}

/** Throws UpstreamProblem where `failed` is true of an answer. */
export function refuseFailed(failed: string | undefined, answer: unknown, upstream: string, what: string): void {
  if (failed === undefined || !holds(failed, answer, upstream)) return;
  throw new UpstreamProblem('failed', upstream, what, { providerMessage: JSON.stringify(answer) });
}
