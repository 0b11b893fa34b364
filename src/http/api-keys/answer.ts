/** A provider's completion as the gateway's own: our names, and nothing that says who the provider is or what it cost us. */
import { isJsonObject, type JsonObject } from '../../json.ts';
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
  const { object, created, choices, system_fingerprint: fingerprint } = answer;
  return {
    id,
    object,
    created,
    model,
    choices: Array.isArray(choices) ? choices.map(withoutNative) : [],
    ...(fingerprint !== undefined && { system_fingerprint: fingerprint }),
  };
}

/** OpenRouter adds how the provider behind it put the reason. */
function withoutNative(choice: unknown): unknown {
  if (!isJsonObject(choice) || !('native_finish_reason' in choice)) return choice;
  const { native_finish_reason: _, ...rest } = choice;
  return rest;
}

/** Token counts alone; some providers add prices. */
export const usageForCaller = (usage: JsonObject): JsonObject =>
  Object.fromEntries(USAGE.flatMap((name) => (usage[name] === undefined ? [] : [[name, usage[name]]])));

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
