/** Server-sent events as they come over the wire. Source: the HTML standard, "Server-sent events". */
import { UpstreamProblem } from '../../problem.ts';

export type ServerEvent =
  | { readonly kind: 'data'; readonly data: string }
  /** Sent to keep a connection open. */
  | { readonly kind: 'comment' };

/** Far more than any chunk of text: an event that never ends must not fill the memory. */
const LARGEST_EVENT = 4 * 1024 * 1024;

/**
 * Cuts bytes into events, wherever the network cut them before. Throws UpstreamProblem for an event without an end: one of
 * more than `longest` characters.
 */
export function createEventReader(upstream: string, longest = LARGEST_EVENT) {
  // Leaves out the mark that some put before their first event.
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  /** Characters of the lines in `data`. */
  let held = 0;

  function* lineEnded(line: string): Generator<ServerEvent> {
    if (line === '') {
      const text = data.join('\n');
      // Without data it is none: some say by it that they are still there.
      if (text !== '') yield { kind: 'data', data: text };
      data = [];
      held = 0;
    } else if (line.startsWith(':')) yield { kind: 'comment' };
    else if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      held += line.length;
    }
  }

  return {
    /** The events that end within these bytes. */
    *read(bytes: Buffer): Generator<ServerEvent> {
      const text = decoder.decode(bytes, { stream: true });
      // A long line of many pieces would be searched from its beginning at each.
      const lines = text.includes('\n') ? (rest + text).split('\n') : [rest + text];
      rest = lines.pop() ?? '';
      for (const line of lines) yield* lineEnded(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (held + rest.length > longest) {
        throw new UpstreamProblem('malformed', upstream, `streamed more than ${longest} characters without an end`);
      }
    },
    /** What is left when the stream ends without a blank line. */
    *end(): Generator<ServerEvent> {
      if (rest !== '') yield* lineEnded(rest);
      yield* lineEnded('');
    },
  };
}
