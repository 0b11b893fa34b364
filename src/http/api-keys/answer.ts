/** A provider's completion as the gateway's own: our names, and nothing that says who the provider is or what it cost us. */
import { asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import { tokenWeight } from '../../pricing/token-estimate.ts';
import type { TokenUse } from '../../pricing/tokens.ts';

export interface Naming {
  /** `chatcmpl-...`, the same in every chunk of a stream. */
  readonly id: string;
  /** Neutral name. */
  readonly model: string;
}

const USAGE = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
] as const;

/** The whole answer, or one chunk of a stream without its usage. */
export function renamed(answer: JsonObject, { id, model }: Naming): Record<string, unknown> {
  const { object, created, choices } = answer;
  return { id, object, created, model, choices: asJsonObjects(choices).map(knownChoice) };
}

/**
 * What `CreateChatCompletionResponse` and `CreateChatCompletionStreamResponse` of openai-openapi 2.3.0 have, and
 * `reasoning`, which is charged as output. Hosts add what names them or the provider behind them.
 */
function knownChoice(choice: JsonObject): JsonObject {
  const known = only(choice, ['index', 'finish_reason', 'logprobs']);
  return {
    ...known,
    ...(isJsonObject(choice.message) && { message: knownMessage(choice.message) }),
    ...(isJsonObject(choice.delta) && { delta: knownMessage(choice.delta) }),
  };
}

function knownMessage(message: JsonObject): JsonObject {
  const { tool_calls: calls, function_call: called, annotations } = message;
  return {
    ...only(message, ['role', 'content', 'refusal', 'reasoning', 'reasoning_content']),
    ...(Array.isArray(calls) && { tool_calls: asJsonObjects(calls).map(knownCall) }),
    ...(isJsonObject(called) && { function_call: only(called, ['name', 'arguments']) }),
    ...(Array.isArray(annotations) && { annotations: asJsonObjects(annotations).map(knownAnnotation) }),
  };
}

const knownCall = (call: JsonObject): JsonObject => ({
  ...only(call, ['index', 'id', 'type']),
  ...(isJsonObject(call.function) && { function: only(call.function, ['name', 'arguments']) }),
});

const knownAnnotation = (annotation: JsonObject): JsonObject => ({
  ...only(annotation, ['type']),
  ...(isJsonObject(annotation.url_citation) && {
    url_citation: only(annotation.url_citation, ['url', 'title', 'start_index', 'end_index']),
  }),
});

const only = (fields: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));

/** Token counts alone; some providers add prices. */
export const usageForCaller = (usage: JsonObject): JsonObject => only(usage, USAGE);

/** Our own count, for an answer that the provider did not count. */
export const usageOf = ({ promptTokens, completionTokens }: TokenUse): JsonObject => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

/** Weight of what a model generated in a message or delta, as estimates have it: its text, its reasoning and its calls. */
export function generatedWeight(message: unknown): number {
  if (typeof message === 'string') return tokenWeight(message);
  if (Array.isArray(message)) return message.reduce<number>((sum, part) => sum + generatedWeight(part), 0);
  if (!isJsonObject(message)) return 0;
  return GENERATED.reduce((sum, name) => sum + generatedWeight(message[name]), 0);
}

const GENERATED = [
  'content',
  'text',
  'refusal',
  'reasoning',
  'reasoning_content',
  'tool_calls',
  'function',
  'function_call',
  'name',
  'arguments',
] as const;
