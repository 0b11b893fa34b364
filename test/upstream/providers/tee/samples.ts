/** Answers and quotes as a host gives them. */
import { openTdxHardware } from '../../../../src/sandbox/doubles/tdx-hardware.ts';
import type { ChatAnswer } from '../../../../src/upstream/providers/openai/chat.ts';

export function answerOf(sent: string, body: string): ChatAnswer {
  const response = { status: 200, headers: {}, body: Buffer.from(body), sent, json: () => JSON.parse(body) };
  const use = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: undefined };
  return { id: 'chat-1', text: 'text', finishReason: 'stop', ...use, response } as ChatAnswer;
}

/** When the samples were made. */
export const NOW = Date.parse('2026-01-05T15:30:00Z');

const hardware = openTdxHardware(NOW);
export const trust = { root: hardware.root, measurements: undefined };

/** A TDX quote with these 64 bytes of report data (hex), that leads to the root of `trust`. */
export const quoteOf = (reportData: string): string => hardware.quote({ reportData });
