/** Server-sent events as they come. Source: the HTML standard, "Server-sent events". */

export interface StreamEvent {
  /** `message` unless the gateway names another. */
  readonly event: string;
  readonly data: string;
}

/** The answer of a path that streams: it can be gone through once. Throws StreamBroken where it ends before its end. */
export type Events = AsyncIterable<StreamEvent>;

/** A field of an event, without the space that may follow its name. */
function fieldIn(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}

function eventIn(lines: readonly string[]): StreamEvent | undefined {
  const fields = lines.map(fieldIn);
  const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : []));
  if (data.length === 0) return undefined;
  const named = fields.filter(([name]) => name === 'event').at(-1)?.[1];
  return { event: named || 'message', data: data.join('\n') };
}

/** In characters: as much as a gateway passes on of a whole stream. */
const LONGEST_EVENT_MIB = 8;

/**
 * Throws what the body throws when the connection ends, and Error for an event that is longer than any, or that has no end: what
 * is on the way may close a connection that broke off as if all had come.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** What has come of the event that has no end yet: lines, and the beginning of the next. */
  let lines: string[] = [];
  let line = '';
  let length = 0;
  let isAfterReturn = false;
  let hasEvents = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        if (line !== '' || lines.length > 0) throw new Error('it was cut within an event');
        if (!hasEvents) throw new Error('it was cut before its first event');
        return;
      }
      const given = decoder.decode(value, { stream: true });
      // The other half of a line's end.
      const text = isAfterReturn ? given.replace(/^\n/, '') : given;
      if (given !== '') isAfterReturn = given.endsWith('\r');
      const [rest = '', ...begun] = text.split(/\r\n|\n|\r/);
      line += rest;
      length += rest.length;
      for (const next of begun) {
        const isEnd = line === '';
        // Comments keep a connection open.
        if (!isEnd && !line.startsWith(':')) lines.push(line);
        const event = isEnd ? eventIn(lines) : undefined;
        if (isEnd) lines = [];
        length = (lines.length === 0 ? 0 : length + 1) + next.length;
        line = next;
        if (!event) continue;
        hasEvents = true;
        yield event;
      }
      if (length > LONGEST_EVENT_MIB * 1024 * 1024) throw new Error(`an event is longer than ${LONGEST_EVENT_MIB} MiB`);
    }
  } finally {
    // Whoever stops listening leaves.
    await reader.cancel().catch(() => {});
  }
}
