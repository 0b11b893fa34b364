/** Bodies of a gateway's answers: one without an end does not fill its reader's memory. */

export const MIB = 1024 * 1024;

/** More came than is read. */
export class TooLong extends Error {
  constructor(mebibytes: number) {
    super(`the answer is longer than ${mebibytes} MiB`);
    this.name = 'TooLong';
  }
}

async function readText({ body }: Response, mebibytes: number): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > mebibytes * MIB) throw new TooLong(mebibytes);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Throws TooLong, SyntaxError for what is no JSON, and what the connection throws where it ends before. */
export async function readJson(answer: Response, mebibytes: number): Promise<unknown> {
  return JSON.parse(await readText(answer, mebibytes));
}

/** More than any provider's answer that a gateway takes. */
export const LARGEST_RESULT_MIB = 64;

/** A call's result, as `readJson` reads it. */
export const readResult = (answer: Response): Promise<unknown> => readJson(answer, LARGEST_RESULT_MIB);
