/**
 * What the client writes, without calls that have a number which is not read as it is written: the gateway is sent what was read
 * of it, would sell that, and could not tell.
 */
import { Readable } from 'node:stream';
import { misreadIn } from '../../as-written.ts';
import { asJsonObject } from '../../json.ts';

const INVALID_REQUEST = -32_600;

/** The answer to such a call; undefined for everything else. */
function refusalOf(line: string): string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { id, params } = asJsonObject(message);
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
      const refusal = refusalOf(line);
      if (refusal === undefined) yield Buffer.from(line);
      else answer(`${refusal}\n`);
    }
  }
  return Readable.from(passedOn());
}
