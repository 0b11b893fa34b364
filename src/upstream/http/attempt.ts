/** One HTTP exchange with an upstream whose answer is wanted whole. */
import { UpstreamProblem } from '../problem.ts';
import { charsetOf } from './charset.ts';
import {
  askWhole,
  begin,
  endedWith,
  type Failed,
  isAccepted,
  type PreparedRequest,
  type UpstreamConnection,
  unwanted,
  whereOf,
  withoutSecrets,
} from './exchange.ts';
import { snippet } from './redact.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** Leaves out the mark that some put before their JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** UTF-8, as JSON is; where it is none, in the characters that its type names, as some frameworks write it. Throws for others. */
function textOf(answer: Pick<UpstreamResponse, 'headers'>, body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    return new TextDecoder(charsetOf(answer)).decode(body);
  }
}

export type Outcome = { response: UpstreamResponse } | Failed;

/** Never rejects for what the upstream does: a failure is an outcome, with whether trying again makes sense. */
export async function attemptOnce(
  connection: UpstreamConnection,
  request: PreparedRequest,
  silentMs?: number,
): Promise<Outcome> {
  const begun = await begin(connection, request, askWhole, silentMs);
  if ('problem' in begun) return begun;
  const { status, body } = begun;
  begun.leave();
  begun.report(endedWith(status));
  if (!isAccepted(status, request)) return unwanted(connection, request, begun, body);
  return { response: answered(connection, request, begun, withoutSecrets(connection, status, body)) };
}

function answered(
  connection: UpstreamConnection,
  request: PreparedRequest,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
  body: Buffer,
): UpstreamResponse {
  return {
    status,
    headers,
    body,
    sent: request.body.text,
    json(made = (text) => text) {
      try {
        return JSON.parse(made(textOf({ headers }, body)));
      } catch {
        const providerMessage = snippet(body, connection.hidden.texts);
        throw new UpstreamProblem(
          'malformed',
          connection.upstream,
          `${whereOf(connection, request)} answered no JSON`,
          {
            providerMessage,
          },
        );
      }
    },
  };
}
