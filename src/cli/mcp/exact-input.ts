/**
 * What the client writes, without calls that have a number which is not read as it is written: the gateway is sent what was read
 * of it, would sell that, and could not tell. What the client leaves out by a null is left out.
 */
import { Readable } from 'node:stream';
import { misreadIn } from '../../as-written.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { withoutNulls } from '../../mcp/left-out.ts';

const INVALID_REQUEST = -32_600;

function messageIn(line: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The answer to such a call; undefined for everything else. */
function refusalOf({ id, params }: JsonObject, line: string): string | undefined {
  const misreadId = misreadIn({ id }, () => line);
  const misread = misreadId ?? misreadIn(asJsonObject(params).arguments, () => line);
  if (id === undefined || !misread) return undefined;
  const words = `${misread.path} ${misread.message}. Nothing was called, and nothing was paid.`;
  const error = { code: INVALID_REQUEST, message: words, data: { code: 'invalid_request', details: [misread] } };
  // Whoever sent an id that is misread would not know the answer for its own.
  return JSON.stringify({ jsonrpc: '2.0', id: misreadId ? null : id, error });
}

/** Each but the last with its end. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  for await (const chunk of input) {
    const [rest = '', ...begun] = decoder.decode(chunk, { stream: true }).split('\n');
    line += rest;
    for (const next of begun) {
      yield `${line}\n`;
      line = next;
    }
  }
  yield line;
}

/** `answer` takes a line for the client. */
export function exactInput(input: Readable, answer: (line: string) => void): Readable {
  async function* passedOn(): AsyncGenerator<Buffer> {
    for await (const line of linesOf(input)) {
      const message = messageIn(line);
      const refusal = message && refusalOf(message, line);
      if (refusal !== undefined) answer(`${refusal}\n`);
      else yield Buffer.from(message ? `${JSON.stringify(withoutNulls(message))}\n` : line);
    }
  }
  return Readable.from(passedOn());
}
