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

const refusal = (id: unknown, words: string, data?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: words, data } });

const NOTHING_DONE = 'Nothing was called, and nothing was paid.';

/** The answer to such a call; undefined for everything else. */
function refusalOf({ id, params }: JsonObject, line: string): string | undefined {
  const misreadId = misreadIn({ id }, () => line);
  const misread = misreadId ?? misreadIn(asJsonObject(params).arguments, () => line);
  if (id === undefined || !misread) return undefined;
  // Whoever sent an id that is misread would not know the answer for its own.
  return refusal(misreadId ? null : id, `${misread.path} ${misread.message}. ${NOTHING_DONE}`, {
    code: 'invalid_request',
    details: [misread],
  });
}

/** What is passed on of a line, or what its sender is answered in place of that. */
function read(line: string): { readonly passed: string } | { readonly answer: string | undefined } {
  const message = messageIn(line);
  if (!message) return { passed: line };
  try {
    const answer = refusalOf(message, line);
    return answer === undefined ? { passed: `${JSON.stringify(withoutNulls(message))}\n` } : { answer };
  } catch (error) {
    // Of a few thousand levels JSON can be read, and cannot be written.
    if (!(error instanceof RangeError)) throw error;
    const { id } = message;
    return { answer: id === undefined ? id : refusal(id, `The message is nested too deeply. ${NOTHING_DONE}`) };
  }
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
      const found = read(line);
      if ('passed' in found) yield Buffer.from(found.passed);
      else if (found.answer !== undefined) answer(`${found.answer}\n`);
    }
  }
  return Readable.from(passedOn());
}
