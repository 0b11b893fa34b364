/** An answer that streams (text/event-stream, WHATWG HTML 9.2), passed on event by event. */
import { buffer } from 'node:stream/consumers';
import { isTimeout } from '../../../timing.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { CutAnswer } from '../../cut-answer.ts';
import { UpstreamProblem } from '../../problem.ts';
import { demandPlain } from './answer.ts';
import type { HttpOptions } from './options.ts';
import { refuseBy } from './refusal.ts';
import type { requestFor } from './request.ts';

/** Characters: what was paid for is kept, to be had again. */
const LONGEST = 8 * 1024 * 1024;

/**
 * The whole text, once it has come. What was passed on by the deadline, or until it was as long as it may be, ends with an event
 * that says so. Throws UpstreamProblem.
 */
export async function passOn(
  request: ReturnType<typeof requestFor>,
  { http, options, upstream }: Binding<HttpOptions>,
  { signal, emit, longest = LONGEST }: Pick<CallContext, 'signal' | 'emit' | 'longest'>,
): Promise<string | CutAnswer> {
  const headers = { accept: 'text/event-stream', ...request.headers };
  const { status, headers: given, body, problemOf } = await http.stream({ ...request, headers, signal });
  if (options.status?.[status]) refuseBy(options, request.method, status, await buffer(body), upstream);
  const most = Math.min(longest, LONGEST);
  let room = most;
  let text = '';
  let rest = '';
  let seam = '';
  const pass = (events: string) => {
    // An event may quote a key, and is looked through whole.
    const shown = http.redactAnswer(events);
    const fits = charactersIn(shown) <= room;
    const fitting = fits ? shown : wholeEvents(shown.slice(0, room));
    room -= charactersIn(fitting);
    text += fitting;
    if (fitting !== '') emit?.(fitting);
    if (!fits) throw new UpstreamProblem('malformed', upstream, `streamed more than ${most} characters`);
  };
  try {
    if (!given['content-type']?.startsWith('text/event-stream')) {
      throw new UpstreamProblem('malformed', upstream, `answered ${given['content-type']} where a stream was expected`);
    }
    demandPlain({ headers: given }, upstream);
    body.setEncoding('utf8');
    for await (const chunk of body) {
      rest += chunk;
      if (rest.length > LONGEST) throw new UpstreamProblem('malformed', upstream, 'streamed an event without an end');
      // A long event of many pieces would be searched from its beginning at each.
      const last = seam + chunk;
      seam = last.slice(-LONGEST_END + 1);
      const events = eventEnd.test(last) ? wholeEvents(rest) : '';
      if (events === '') continue;
      rest = rest.slice(events.length);
      pass(events);
    }
    // What ends without an empty line would be no event to whoever reads it.
    if (rest !== '') pass(`${rest}\n\n`);
    if (!holdsData.test(text)) throw new UpstreamProblem('malformed', upstream, 'streamed nothing');
    return text;
  } catch (error) {
    const problem = error instanceof UpstreamProblem ? error : problemOf(error);
    // Both are what a caller can bring about; that its provider breaks off, or that the gateway stops, is not.
    const isLate = isTimeout(signal.reason);
    const isTooLong = problem.failure === 'malformed';
    if (!emit || !holdsData.test(text) || !(isLate || isTooLong)) throw problem;
    const end = cutEvent(
      isTooLong ? `before it became longer than the ${most} characters it may have` : 'at its deadline',
    );
    emit(end);
    return new CutAnswer(text + end);
  } finally {
    body.destroy();
  }
}

/** An empty line, whatever ends the line before it. */
const EVENT_ENDS = ['\n\n', '\n\r\n', '\r\r'];
const LONGEST_END = 3;
const eventEnd = new RegExp(EVENT_ENDS.join('|'));

/** The text without what comes after its last event that is whole, which an empty line ends. */
function wholeEvents(text: string): string {
  const ends = EVENT_ENDS.map((mark) => {
    const at = text.lastIndexOf(mark);
    return at === -1 ? 0 : at + mark.length;
  });
  return text.slice(0, Math.max(...ends));
}

/** As JSON Schema counts them: two halves of one are one. */
function charactersIn(text: string): number {
  let count = text.length;
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) count -= 1;
  return count;
}

/** Comments keep a connection open and bring nothing. A mark before the first line is none of it. */
const holdsData = /(?:^\ufeff?|[\r\n])data[:\r\n]/;

/** The last event of an answer that is cut, in the form in which failures end one. `where` is said of the answer. */
function cutEvent(where: string): string {
  const message = `The answer was cut ${where}: all until here is what was paid for, and the same payment gets it again. Ask for less at a time`;
  return `event: error\ndata: ${JSON.stringify({ error: { code: 'answer_cut', message } })}\n\n`;
}
