/** A completion that is passed on while it comes. Source: openai-openapi 2.3.0, `CreateChatCompletionStreamResponse`. */
import type { ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { StreamedPart } from '../../upstream/providers/openai/chat-client.ts';
import { UNBUFFERED } from '../transport.ts';
import { type Naming, renamed, usageForCaller, usageOf } from './answer.ts';
import type { Reply } from './reply.ts';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  ...UNBUFFERED,
};

/** What may wait here for a caller, so that most answers never wait for one. */
const PILE_BYTES = 256 * 1024;

const DONE = 'data: [DONE]\n\n';

export const eventOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

export interface StreamedOptions {
  readonly naming: Naming;
  /** The caller asked for a last chunk with the usage. */
  readonly wantsUsage: boolean;
  /** Ends the waiting for a caller who does not read. */
  readonly signal: AbortSignal;
  /** How long a caller may be waited for in all, in milliseconds: meanwhile the provider waits too. */
  readonly patienceMs: number;
}

/** The answer begins with the first part: until then the response is untouched. */
export function streamedReply(
  response: ServerResponse,
  { naming, wantsUsage, signal, patienceMs }: StreamedOptions,
): Reply {
  let created: unknown;
  let waitedMs = 0;
  let hasUsage = false;

  async function send(text: string): Promise<void> {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, HEADERS);
    if (response.write(text) || response.writableLength < PILE_BYTES) return;
    // A caller that reads slowly slows the provider down, but not for long: its turn there is somebody else's then, and
    // the answer is read to its end for the charge alone.
    const startedAt = performance.now();
    await drained(response, signal, patienceMs - waitedMs);
    waitedMs += performance.now() - startedAt;
    if (waitedMs >= patienceMs) response.destroy();
  }

  const lastChunk = (choices: readonly object[]): JsonObject =>
    renamed({ object: 'chat.completion.chunk', created, choices }, naming);

  return {
    async add(part) {
      const text = textOf(part);
      if (text !== undefined) await send(text);
    },
    isFull: false,
    end: () => response.end(DONE),
    cut(unfinished, use) {
      const choices = unfinished.map((index) => ({ index, delta: {}, finish_reason: 'length' }));
      const reason = { ...lastChunk(choices), ...(wantsUsage && { usage: null }) };
      const usage = { ...lastChunk([]), usage: usageOf(use) };
      const events = [...(choices.length > 0 ? [reason] : []), ...(wantsUsage && !hasUsage ? [usage] : [])];
      if (!response.headersSent) response.writeHead(200, HEADERS);
      response.end(events.map(eventOf).join('') + DONE);
    },
  };

  /** What is sent of a part; undefined for nothing. */
  function textOf(part: StreamedPart): string | undefined {
    if (part.kind === 'waiting') return ': still working\n\n';
    const { chunk } = part;
    created = chunk.created;
    const usage = isJsonObject(chunk.usage) ? chunk.usage : undefined;
    const isUsageAlone = usage !== undefined && (!Array.isArray(chunk.choices) || chunk.choices.length === 0);
    if (isUsageAlone && !wantsUsage) return undefined;
    hasUsage ||= usage !== undefined;
    const sent = renamed(chunk, naming);
    // OpenAI has the field in every chunk where it was asked for, and fills it in the last.
    return eventOf(wantsUsage ? { ...sent, usage: usage ? usageForCaller(usage) : null } : sent);
  }
}

/** Resolves when the response can take more or is closed, or so much time has passed; rejects when the signal aborts. */
function drained(response: ServerResponse, signal: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => () => {
      clearTimeout(timer);
      response.off('drain', ready).off('close', ready);
      signal.removeEventListener('abort', late);
      done();
    };
    const ready = settle(resolve);
    const late = settle(() => reject(signal.reason));
    const timer = setTimeout(ready, milliseconds);
    response.once('drain', ready).once('close', ready);
    signal.addEventListener('abort', late, { once: true });
    if (signal.aborted) late();
  });
}
