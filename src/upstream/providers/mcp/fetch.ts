/** The one way out to providers, as the protocol's client wants it. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../json.ts';
import type { UpstreamHttp, UpstreamRequest, UpstreamResponse } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import { createEventReader } from '../openai/server-events.ts';

/** With these servers refuse what they do not know of the protocol: the client reads them, and may go on. */
const REFUSALS = [400, 404, 405, 406, 415, 422];

/**
 * `fetch` through the upstream's turns, time limits, circuit and bounds, for whole answers. The client waits for what a
 * server leaves unanswered and asks again for what failed: `giveUp` is told the UpstreamProblem that ends the call. `signal`
 * ends the call, and not the farewell after it.
 */
export function fetchThrough(
  http: Pick<UpstreamHttp, 'upstream' | 'request'>,
  signal: AbortSignal,
  giveUp: (problem: unknown) => void,
): FetchLike {
  return async (url, { method = 'GET', headers: given, body, signal: closing } = {}) => {
    const headers = Object.fromEntries(new Headers(given));
    // What servers say unasked is for clients that stay.
    if (method === 'GET' && !('last-event-id' in headers)) return new Response(null, { status: 405 });
    // A server has to hear that a session is over, above all where the time of the call is.
    const ends = method === 'DELETE' ? [] : [signal];
    const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
    try {
      const response = await http.request({
        method: method as UpstreamRequest['method'],
        path: String(url),
        headers,
        ...(message !== undefined && { json: message }),
        signal: AbortSignal.any(closing ? [...ends, closing] : ends),
        accept: REFUSALS,
      });
      if (response.status < 300) demandAnswer(message, response, http.upstream);
      const bytes = response.body.length === 0 ? null : new Uint8Array(response.body);
      return new Response(bytes, { status: response.status, headers: response.headers });
    } catch (problem) {
      giveUp(problem);
      throw problem;
    }
  };
}

/** Throws UpstreamProblem `malformed` where the message is a request, and this neither answers it nor says where to go on. */
function demandAnswer(message: unknown, response: UpstreamResponse, upstream: string): void {
  if (!isJsonObject(message) || message.id === undefined || message.method === undefined) return;
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  if (isStream && /^id:/m.test(response.body.toString('utf8'))) return;
  const answers = (isStream ? eventsIn(response.body, upstream) : [response.json()]).flat();
  if (answers.some((answer) => isJsonObject(answer) && answer.id === message.id)) return;
  const providerMessage = response.body.toString('utf8');
  throw new UpstreamProblem('malformed', upstream, `left ${message.method} unanswered`, { providerMessage });
}

function eventsIn(body: Buffer, upstream: string): unknown[] {
  // The body was bounded when it was read, and one event may be all of it: a picture is.
  const reader = createEventReader(upstream, body.length);
  const data = [...reader.read(body), ...reader.end()].flatMap((event) => (event.kind === 'data' ? [event.data] : []));
  try {
    return data.map((text): unknown => JSON.parse(text));
  } catch (error) {
    throw new UpstreamProblem('malformed', upstream, 'streamed what is no JSON', { cause: error });
  }
}
