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
