/** A completion that is passed on while it comes. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { UpstreamStream } from '../../upstream/http/upstream-http.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';
import { chatErrorStatuses, errorProblem } from '../../upstream/providers/openai/chat.ts';
import type { Naming } from './answer.ts';
import type { Use } from './charge.ts';
import { type Chunks, createChunks } from './chunks.ts';
import type { ChatSource } from './models.ts';
import { type ChatCall, upstreamBody } from './request.ts';
import { createEventReader, type ServerEvent } from './sse.ts';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Proxies that buffer would undo the streaming.
  'x-accel-buffering': 'no',
};

export interface Streamed {
  /** `gone`: the caller left before the end. */
  readonly end: 'complete' | 'gone';
  /** Of what was passed on; undefined for nothing. */
  readonly use: Use | undefined;
}

export interface StreamOptions {
  readonly call: ChatCall;
  readonly naming: Naming;
  /** Aborted when the caller goes away, at the deadline and at shutdown. */
  readonly signal: AbortSignal;
  /** Aborted when the caller goes away. */
  readonly gone: AbortSignal;
}

/**
 * Asks one source and passes its chunks on, all but the closing `[DONE]`. The answer begins with the first of them: a
 * failure before it leaves the response untouched. Throws UpstreamProblem.
 */
export async function streamBy(
  { binding, model }: ChatSource,
  response: ServerResponse,
  { call, naming, signal, gone }: StreamOptions,
): Promise<Streamed> {
  const chunks = createChunks(binding.upstream, call, naming);
  let stream: UpstreamStream | undefined;
  try {
    stream = await binding.http.stream({
      method: 'POST',
      path: '/chat/completions',
      json: upstreamBody(call, model),
      headers: { accept: 'text/event-stream' },
      signal,
      accept: chatErrorStatuses,
    });
    await demandEvents(binding.upstream, stream);
    await passOn(stream, chunks, { upstream: binding.upstream, response, signal });
  } catch (error) {
    stream?.body.destroy();
    if (gone.aborted) return { end: 'gone', use: chunks.use() };
    throw stream?.problemOf(error) ?? error;
  }
  return { end: 'complete', use: chunks.use() };
}

export const eventOf = (data: string): string => `data: ${data}\n\n`;

async function demandEvents(upstream: string, { status, headers, body }: UpstreamStream): Promise<void> {
  if (status < 400 && headers['content-type']?.startsWith('text/event-stream')) return;
  let text = '';
  for await (const chunk of body) {
    text += chunk;
    if (text.length > 65_536) break;
  }
  const answer = asJson(text);
  const isError = status >= 400 || (typeof answer === 'object' && answer !== null && 'error' in answer);
  if (isError) throw errorProblem(upstream, status, answer);
  throw new UpstreamProblem('malformed', upstream, `answered ${headers['content-type']} where a stream was asked for`);
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Resolves at the end of the completion. Throws UpstreamProblem where there is none. */
async function passOn(
  stream: UpstreamStream,
  chunks: Chunks,
  { upstream, response, signal }: { upstream: string; response: ServerResponse; signal: AbortSignal },
): Promise<void> {
  const reader = createEventReader(upstream);
  let isDone = false;

  async function send(event: ServerEvent): Promise<void> {
    if (event.kind === 'data' && event.data === '[DONE]') isDone = true;
    if (isDone) return;
    const data = event.kind === 'data' ? chunks.take(event.data) : undefined;
    if (event.kind === 'data' && data === undefined) return;
    if (!response.headersSent) response.writeHead(200, HEADERS);
    const text = data === undefined ? ': still working\n\n' : eventOf(data);
    // A caller that reads slowly slows the upstream down; nothing piles up here.
    if (!response.write(text)) await once(response, 'drain', { signal });
  }

  // Left to come to its own end, so that the connection can be used again.
  for await (const bytes of stream.body.iterator({ destroyOnReturn: false })) {
    for (const event of reader.read(bytes)) await send(event);
    if (isDone) break;
  }
  for (const event of reader.end()) await send(event);
  stream.body.resume();
  if (isDone || chunks.isFinished) return;
  throw new UpstreamProblem('failed', upstream, 'the stream broke off before the completion was at its end');
}
