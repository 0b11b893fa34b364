/** A completion that is passed on while it comes. Source: openai-openapi 2.3.0, `CreateChatCompletionStreamResponse`. */
import type { ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { UNBUFFERED } from '../transport.ts';
import { type Naming, renamed, usageForCaller, usageOf } from './answer.ts';
import { openCompletion } from './completion.ts';
import { brokenOff } from './problems.ts';
import { MOST_KEPT, type Reply } from './reply.ts';

const TYPE = 'text/event-stream; charset=utf-8';

const HEADERS = {
  'content-type': TYPE,
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
  /** It is given again to who asks for it once more. */
  readonly isKept: boolean;
}

/** The answer begins with the first part: until then the response is untouched. */
export function streamedReply(
  response: ServerResponse,
  { naming, wantsUsage, signal, patienceMs, isKept }: StreamedOptions,
): Reply {
  let created: unknown;
  let waitedMs = 0;
  let hasUsage = false;
  const whole = isKept ? openCompletion(naming) : undefined;

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
      if (part.kind === 'waiting') {
        await send(': still working\n\n');
        return;
      }
      if (whole && whole.characters <= MOST_KEPT) whole.add(part.chunk);
      const text = textOf(part.chunk);
      if (text !== undefined) await send(text);
    },
    isFull: false,
    end: () => DONE,
    cut(unfinished, use) {
      const choices = unfinished.map((index) => ({ index, delta: {}, finish_reason: 'length' }));
      const reason = { ...lastChunk(choices), ...(wantsUsage && { usage: null }) };
      const usage = { ...lastChunk([]), usage: usageOf(use) };
      const events = [...(choices.length > 0 ? [reason] : []), ...(wantsUsage && !hasUsage ? [usage] : [])];
      return events.map(eventOf).join('') + DONE;
    },
    broken: (error) => eventOf({ error: brokenOff(error) }),
    finish(end) {
      if (!response.headersSent) response.writeHead(200, HEADERS);
      response.end(end);
    },
    kept(end) {
      if (!whole || whole.characters > MOST_KEPT) return undefined;
      return { status: 200, contentType: TYPE, body: whole.chunks(wantsUsage).map(eventOf).join('') + end };
    },
  };

  /** What is sent of a chunk; undefined for nothing. */
  function textOf(chunk: JsonObject): string | undefined {
    created = chunk.created;
    const usage = isJsonObject(chunk.usage) ? chunk.usage : undefined;
    const isUsageAlone = usage !== undefined && (!Array.isArray(chunk.choices) || chunk.choices.length === 0);
    if (isUsageAlone && !wantsUsage) return undefined;
    hasUsage ||= usage !== undefined;
    const known = renamed(chunk, naming);
    // OpenAI has the field in every chunk where it was asked for, and fills it in the last.
    return eventOf(wantsUsage ? { ...known, usage: usage ? usageForCaller(usage) : null } : known);
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
