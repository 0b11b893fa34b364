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

/** Throws what the body throws when the connection ends. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let lines: string[] = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be half of a line's end.
      const whole = rest.split(/\r\n|\n|\r(?!$)/);
      rest = whole.pop() ?? '';
      for (const line of whole) {
        if (line !== '') {
          lines.push(line);
          continue;
        }
        const event = eventIn(lines);
        lines = [];
        if (event) yield event;
      }
    }
  } finally {
    // Whoever stops listening leaves.
    await reader.cancel().catch(() => {});
  }
}
