/** An outcome of the lifecycle as an HTTP answer. */
import { Problem } from '../errors.ts';
import type { Outcome } from '../lifecycle/outcome.ts';
import type { HttpAnswer, Rail } from '../payment/rail.ts';
import type { Receipt } from '../store/store.ts';
import { isForgotten } from '../store/stored-answer.ts';

export function render(outcome: Outcome, rails: ReadonlyMap<string, Rail>): HttpAnswer {
  const { status, headers, body } = withoutId(outcome, rails);
  return { status, headers: { ...headers, 'request-id': outcome.requestId }, body };
}

function withoutId(outcome: Outcome, rails: ReadonlyMap<string, Rail>): HttpAnswer {
  const rail = rails.get(outcome.rail ?? '');
  if (outcome.kind === 'problem') return problemOn(rail, outcome.problem, outcome);
  if (!rail) return problemAnswer(undefined, outcome.requestId);
  if (outcome.kind === 'challenge') return rail.http.challenge(outcome.challenge);
  const { answer, receipt, replayed } = outcome;
  if (isForgotten(answer)) return problemOn(rail, new Problem('answer_gone'), outcome);
  return {
    status: answer.status,
    headers: {
      'content-type': answer.contentType,
      'cache-control': 'private',
      ...(receipt && rail.http.receipt(receipt)),
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
    body: answer.body,
  };
}

/** In the rail's own words, with the receipt where they may tell of one beside a problem. */
function problemOn(
  rail: Rail | undefined,
  problem: Problem,
  { requestId, receipt }: { readonly requestId: string; readonly receipt?: Receipt | undefined },
): HttpAnswer {
  const shared = problemAnswer(problem, requestId);
  const { headers, ...answer } = rail?.http.problem?.(problem, shared) ?? shared;
  return {
    ...answer,
    headers: receipt && rail?.http.tellsOwed ? { ...headers, ...rail.http.receipt(receipt) } : headers,
  };
}

/** The shared error body. An error that is not a Problem tells the caller nothing but the request id. */
export function problemAnswer(error: unknown, requestId: string): HttpAnswer {
  const problem = error instanceof Problem ? error : new Problem('internal_error');
  const { code, message, details, status, headers } = problem;
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ error: { code, message, ...(details ? { details } : {}), requestId } }),
  };
}
