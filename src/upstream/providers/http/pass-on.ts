/** An answer that streams (text/event-stream, WHATWG HTML 9.2), passed on event by event. */
import { buffer } from 'node:stream/consumers';
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import type { HttpOptions } from './options.ts';
import { refuseBy } from './refusal.ts';
import type { requestFor } from './request.ts';

/** Characters: what was paid for is kept, to be had again. */
const LONGEST = 8 * 1024 * 1024;

/** The whole text, once it has come. Throws UpstreamProblem. */
export async function passOn(
  request: ReturnType<typeof requestFor>,
  { http, options, upstream }: Binding<HttpOptions>,
  { signal, emit }: Pick<CallContext, 'signal' | 'emit'>,
): Promise<string> {
  const headers = { accept: 'text/event-stream', ...request.headers };
  const { status, headers: given, body, problemOf } = await http.stream({ ...request, headers, signal });
  if (options.status?.[status]) refuseBy(options, request.method, status, await buffer(body), upstream);
  let text = '';
  let rest = '';
  const pass = (events: string) => {
    // An event may quote a key, and is looked through whole.
    const shown = http.redact(events);
    text += shown;
    if (text.length > LONGEST)
      throw new UpstreamProblem('malformed', upstream, `streamed more than ${LONGEST} characters`);
    emit?.(shown);
  };
  try {
    if (!given['content-type']?.startsWith('text/event-stream')) {
      throw new UpstreamProblem('malformed', upstream, `answered ${given['content-type']} where a stream was expected`);
    }
    body.setEncoding('utf8');
    for await (const chunk of body) {
      rest += chunk;
      if (rest.length > LONGEST) throw new UpstreamProblem('malformed', upstream, 'streamed an event without an end');
      const end = lastEnd(rest);
      if (end === 0) continue;
      const events = rest.slice(0, end);
      rest = rest.slice(end);
      pass(events);
    }
    // What ends without an empty line would be no event to whoever reads it.
    if (rest !== '') pass(`${rest}\n\n`);
    if (text === '') throw new UpstreamProblem('malformed', upstream, 'streamed nothing');
    return text;
  } catch (error) {
    throw error instanceof UpstreamProblem ? error : problemOf(error);
  } finally {
    body.destroy();
  }
}

/** Where the last event that is whole ends: an empty line. */
function lastEnd(text: string): number {
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((mark) => {
    const at = text.lastIndexOf(mark);
    return at === -1 ? 0 : at + mark.length;
  });
  return Math.max(...ends);
}
