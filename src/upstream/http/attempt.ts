/** One HTTP exchange with an upstream whose answer is wanted whole. */
import { UpstreamProblem } from '../problem.ts';
import type { UpstreamResponse } from './client.ts';
import {
  begin,
  collect,
  type Failed,
  isAccepted,
  type Line,
  type PreparedRequest,
  unwanted,
  whereOf,
} from './exchange.ts';
import { snippet } from './redact.ts';

export type Outcome = { response: UpstreamResponse } | Failed;

/** Never rejects for what the upstream does: a failure is an outcome, with whether trying again makes sense. */
export async function attemptOnce(line: Line, request: PreparedRequest): Promise<Outcome> {
  const begun = await begin(line, request);
  if ('problem' in begun) return begun;
  const { status, headers } = begun;
  let ended: Parameters<typeof begun.report>[0] = 'failure';
  try {
    const body = await collect(line, request, begun.body);
    ended = status < 500 ? 'success' : 'failure';
    if (!isAccepted(status, request)) return unwanted(line, request, begun, body);
    return { response: answered(line, request, { status, headers, body }) };
  } catch (error) {
    const explained = begun.explain(error);
    ended = explained.ended;
    return explained.failed;
  } finally {
    begun.leave();
    begun.report(ended);
  }
}

function answered(
  line: Line,
  request: PreparedRequest,
  answer: Pick<UpstreamResponse, 'status' | 'headers' | 'body'>,
): UpstreamResponse {
  return {
    ...answer,
    sent: request.body.text,
    json() {
      try {
        return JSON.parse(answer.body.toString('utf8'));
      } catch {
        const said = snippet(answer.body, Object.values(line.secrets));
        throw new UpstreamProblem('malformed', line.upstream, `${whereOf(request)} answered no JSON`, { said });
      }
    },
  };
}
