/** Server-sent events as they come. Source: the HTML standard, `text/event-stream`. */

/** The data of each event. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = '';
  let data: string[] = [];
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
    if (done) return;
  }
}

/** The piece of text that a chunk of a chat completion brings; the data itself where it is something else. */
export function textOf(data: string): string {
  if (data === '[DONE]') return '';
  try {
    const chunk = JSON.parse(data) as { choices?: readonly { delta?: { content?: string } }[] };
    return chunk.choices ? (chunk.choices[0]?.delta?.content ?? '') : `${data}\n`;
  } catch {
    return `${data}\n`;
  }
}
