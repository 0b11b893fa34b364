/** Answers and quotes as a host gives them. */
import type { ChatAnswer } from '../../../../src/upstream/providers/openai/chat.ts';

export function answerOf(sent: string, body: string): ChatAnswer {
  const response = { status: 200, headers: {}, body: Buffer.from(body), sent, json: () => JSON.parse(body) };
  const use = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: undefined };
  return { id: 'chat-1', text: 'text', finishReason: 'stop', ...use, response } as ChatAnswer;
}

/** A TDX quote with these 64 bytes of report data (hex), by version: the layouts of Intel's format, zeros elsewhere. */
export function quoteOf(reportData: string, version: 4 | 5 = 4): string {
  const quote = Buffer.alloc(version === 4 ? 632 : 702);
  quote.writeUInt16LE(version, 0);
  quote.writeUInt32LE(0x81, 4);
  quote.write(reportData, version === 4 ? 568 : 574, 'hex');
  return quote.toString('hex');
}
