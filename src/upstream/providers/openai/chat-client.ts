/**
 * `POST /chat/completions` at any host that speaks it, whole or streamed.
 * Source: `openai` 6.49.0 and openai-openapi 2.3.0, `CreateChatCompletionResponse` and `CreateChatCompletionStreamResponse`.
 */
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject } from '../../../json.ts';
import type { Binding } from '../../adapter.ts';
import type { UpstreamResponse, UpstreamStream } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import { callerProblem, chatErrorStatuses, errorProblem } from './chat-errors.ts';
import { createEventReader, type ServerEvent } from './server-events.ts';

/** Who is asked. */
export type ChatHost = Pick<Binding, 'upstream' | 'http'>;

const PATH = '/chat/completions';

/** The failure that an error of the host is. */
type ProblemOf = (status: number, answer: unknown) => UpstreamProblem;

/**
 * The whole completion, not yet read, with the exact bytes that were sent and received. Throws UpstreamProblem:
 * `invalid-input` with the host's reason where `words` are the caller's own and the host finds fault with them.
 */
export async function requestCompletion(
  host: ChatHost,
  body: JsonObject,
  { signal, words }: { signal: AbortSignal; words: 'caller' | 'gateway' },
): Promise<{ answer: JsonObject; response: UpstreamResponse }> {
  const { upstream, http } = host;
  const problemOf: ProblemOf =
    words === 'caller' ? callerProblemOf(host, body) : (status, answer) => errorProblem(upstream, status, answer);
  const response = await http.request({ method: 'POST', path: PATH, json: body, signal, accept: chatErrorStatuses });
  return { answer: withoutError(upstream, problemOf, response.status, response.json()), response };
}

const LONGEST_REASON = 300;

/** Reasons for a caller: without keys, without the host's own name of the model, and without its addresses. */
function callerProblemOf({ upstream, http }: ChatHost, { model }: JsonObject): ProblemOf {
  const names = typeof model === 'string' ? [model, model.slice(model.indexOf('/') + 1)] : [];
  const shown = (reason: string): string => {
    const known = names.reduce((text, name) => text.replaceAll(name, 'the model'), http.redact(reason));
    return known.replaceAll(/https?:\/\/\S+/g, '[address]').slice(0, LONGEST_REASON);
  };
  return (status, answer) => callerProblem(upstream, status, answer, shown);
}

export type StreamedPart =
  | { readonly kind: 'chunk'; readonly chunk: JsonObject }
  /** The host is at work and has nothing to show yet. */
  | { readonly kind: 'waiting' };

/**
 * The chunks of a completion while they come, to its end. `stream: true` and the wish for usage are added to the body.
 * A host that answers whole all the same has its completion read as one chunk. Whoever stops reading ends the call
 * upstream. The words are the caller's own; a host that refuses them is asked once more without what a model thought.
 * Throws UpstreamProblem, also where the stream ends before the completion does.
 */
export function streamCompletion(host: ChatHost, body: JsonObject, signal: AbortSignal): AsyncGenerator<StreamedPart> {
  const plain = withoutThoughts(body);
  return plain ? streamWithOrWithout(host, body, plain, signal) : streamOnce(host, body, signal);
}

async function* streamWithOrWithout(
  host: ChatHost,
  body: JsonObject,
  plain: JsonObject,
  signal: AbortSignal,
): AsyncGenerator<StreamedPart> {
  let hasBegun = false;
  try {
    for await (const part of streamOnce(host, body, signal)) {
      hasBegun ||= part.kind === 'chunk';
      yield part;
    }
  } catch (refusal) {
    if (hasBegun || !isRefusal(refusal)) throw refusal;
    try {
      yield* streamOnce(host, plain, signal);
    } catch (error) {
      // Of what was sent, the caller knows the first alone.
      throw isRefusal(error) ? refusal : error;
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof UpstreamProblem && error.failure === 'invalid-input' && [400, 422].includes(error.status ?? 0);

/**
 * Groq and Mistral refuse a message that has its thoughts, as others refuse one that lacks them. Undefined where there
 * are none. Source: github tashfeenahmed/freellmapi (#1070), charmbracelet/crush (#1590), janhq/jan (#8136).
 */
function withoutThoughts(body: JsonObject): JsonObject | undefined {
  const messages = asJsonObjects(body.messages);
  if (!messages.some((message) => 'reasoning' in message || 'reasoning_content' in message)) return undefined;
  return { ...body, messages: messages.map(({ reasoning: _, reasoning_content: __, ...message }) => message) };
}

async function* streamOnce(host: ChatHost, body: JsonObject, signal: AbortSignal): AsyncGenerator<StreamedPart> {
  const { upstream, http } = host;
  const problemOf = callerProblemOf(host, body);
  const stream = await http.stream({
    method: 'POST',
    path: PATH,
    json: { ...body, stream: true, stream_options: { include_usage: true } },
    headers: { accept: 'text/event-stream' },
    signal,
    accept: chatErrorStatuses,
  });
  let isRead = false;
  try {
    if (isEventStream(stream)) yield* readChunks(upstream, problemOf, stream);
    else yield { kind: 'chunk', chunk: asChunk(upstream, await readWhole(upstream, problemOf, stream)) };
    isRead = true;
    letEnd(stream);
  } catch (error) {
    throw stream.problemOf(error);
  } finally {
    if (!isRead) stream.body.destroy();
  }
}

/** How long a host that has said everything may take to end its answer. */
const END_MS = 5_000;

/** To its own end, so that the connection can be used again; one that goes on keeps no turn from others. */
function letEnd({ body }: UpstreamStream): void {
  if (body.closed) return;
  body.resume();
  const late = setTimeout(() => body.destroy(), END_MS).unref();
  body.once('close', () => clearTimeout(late));
}

const isEventStream = ({ status, headers }: UpstreamStream): boolean =>
  status < 400 && headers['content-type']?.startsWith('text/event-stream') === true;

async function* readChunks(
  upstream: string,
  problemOf: ProblemOf,
  { body }: UpstreamStream,
): AsyncGenerator<StreamedPart> {
  const reader = createEventReader(upstream);
  let isFinished = false;

  function* partsOf(events: Iterable<ServerEvent>): Generator<StreamedPart, boolean> {
    for (const event of events) {
      if (event.kind === 'comment') {
        yield { kind: 'waiting' };
        continue;
      }
      if (event.data === '[DONE]') return true;
      const chunk = withoutError(upstream, problemOf, 200, parsed(event.data));
      isFinished ||= asJsonObjects(chunk.choices).some((choice) => typeof choice.finish_reason === 'string');
      yield { kind: 'chunk', chunk };
    }
    return false;
  }

  for await (const bytes of body.iterator({ destroyOnReturn: false })) {
    if (yield* partsOf(reader.read(bytes))) return;
  }
  const isDone = yield* partsOf(reader.end());
  if (isDone || isFinished) return;
  throw new UpstreamProblem('failed', upstream, 'the stream broke off before the completion was at its end');
}

/** More than a whole completion ever is. */
const LARGEST_WHOLE = 32 * 1024 * 1024;

async function readWhole(
  upstream: string,
  problemOf: ProblemOf,
  { status, headers, body }: UpstreamStream,
): Promise<JsonObject> {
  let text = '';
  for await (const piece of body.setEncoding('utf8')) {
    text += piece;
    if (text.length > LARGEST_WHOLE) break;
  }
  const answer = parsed(text);
  if (status < 400 && answer === undefined) {
    throw new UpstreamProblem('malformed', upstream, 'answered something else where a stream was asked for', {
      providerMessage: headers['content-type'],
    });
  }
  return withoutError(upstream, problemOf, status, answer);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The object. Throws where it says that the call failed: some hosts, such as OpenRouter, do so with a 200, where a choice
 * that came to nothing has the finish reason `error`.
 */
function withoutError(upstream: string, problemOf: ProblemOf, status: number, answer: unknown): JsonObject {
  const { error, choices, object } = asJsonObject(answer);
  const isError = isJsonObject(error) || typeof error === 'string' || object === 'error';
  if (status >= 400 || isError) throw problemOf(status, answer);
  const failed = asJsonObjects(choices).find((choice) => choice.finish_reason === 'error');
  if (failed) throw problemOf(502, { error: failed.error ?? 'the model failed' });
  if (isJsonObject(answer)) return withWholeOutput(withNullForNone(answer));
  throw new UpstreamProblem('malformed', upstream, 'answered something that is no JSON object');
}

/**
 * The answer with null as the reason of choices that go on, which SGLang and Ollama (github sgl-project/sglang #3912,
 * ollama/ollama #4357) have written as no text, and KoboldCpp (github PowerShell/AIShell #350) as the word.
 */
function withNullForNone(answer: JsonObject): JsonObject {
  const isNone = ({ finish_reason: reason }: JsonObject) => reason === '' || reason === 'null';
  const choices = asJsonObjects(answer.choices);
  if (!choices.some(isNone)) return answer;
  return {
    ...answer,
    choices: choices.map((choice) => (isNone(choice) ? { ...choice, finish_reason: null } : choice)),
  };
}

/**
 * The answer with all that the model wrote in `completion_tokens`. xAI (docs.x.ai, "Consumption and Rate Limits") and
 * Gemini's compatible API count there what was shown alone: what was thought, and is billed alike, is in the total.
 */
function withWholeOutput(answer: JsonObject): JsonObject {
  const { usage } = answer;
  if (!isJsonObject(usage)) return answer;
  const output = Number(usage.total_tokens) - Number(usage.prompt_tokens);
  const isWhole = !Number.isSafeInteger(output) || output <= Number(usage.completion_tokens);
  return isWhole ? answer : { ...answer, usage: { ...usage, completion_tokens: output } };
}

function asChunk(upstream: string, answer: JsonObject): JsonObject {
  const choices = asJsonObjects(answer.choices).filter(({ message }) => isJsonObject(message));
  if (choices.length === 0) throw new UpstreamProblem('malformed', upstream, 'answered no message');
  return {
    ...answer,
    object: 'chat.completion.chunk',
    choices: choices.map(({ message, ...choice }, place) => ({
      ...choice,
      index: choice.index ?? place,
      delta: message,
      finish_reason: choice.finish_reason ?? 'stop',
    })),
  };
}
