/**
 * How many input tokens a request stands for, before any provider has counted. Requests are read as OpenAI chat
 * completions have them (`messages`, `tools`, ...), or as `prompt` and `system_prompt`.
 */
import type { Input } from '../catalogue/types.ts';
import { tokensOf, tokenWeight } from './token-estimate.ts';

/** What most pictures come to, and all of those that are looked at in `low` detail. */
export const IMAGE_TOKENS = 1600;

/**
 * What the largest picture comes to that is looked at in `high` detail. Source: Claude's vision guide, for models from
 * Opus 4.7 on; OpenAI's and Gemini's count less.
 */
export const LARGEST_IMAGE_TOKENS = 4784;

/** Role and separators of one message, as chat templates add them. */
const MESSAGE_TOKENS = 8;
const SMALLEST_IMAGE_PART_BYTES = '{"type":"image_url"}'.length;

/** Fields besides the messages that go to providers in the caller's words. */
const CONTEXT_FIELDS = [
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'response_format',
  'stop',
  'logit_bias',
] as const;

/** What a text weighs, in hundredths of a token; nothing for a field that is left out. */
export const textWeight = (text: unknown, digitsPerToken?: number): number =>
  typeof text === 'string' ? tokenWeight(text, digitsPerToken) : 0;

interface Content {
  /** Of the text, in hundredths of a token. */
  weight: number;
  images: number;
}

const jsonWeight = (value: unknown, digitsPerToken?: number): number =>
  textWeight(JSON.stringify(value), digitsPerToken);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function add(total: Content, more: Content): Content {
  return { weight: total.weight + more.weight, images: total.images + more.images };
}

function contentOfPart(part: unknown, digitsPerToken?: number): Content {
  if (isObject(part) && part.type === 'image_url') return { weight: 0, images: 1 };
  const isText = isObject(part) && part.type === 'text';
  return { weight: isText ? textWeight(part.text, digitsPerToken) : jsonWeight(part, digitsPerToken), images: 0 };
}

/** Whatever is not known to be free counts: names, tool calls and unknown parts by their JSON. */
function contentOfMessage(message: unknown, digitsPerToken?: number): Content {
  if (!isObject(message)) return { weight: jsonWeight(message, digitsPerToken), images: 0 };
  const { role: _, content, ...others } = message;
  const weight = Object.values(others).reduce<number>((sum, other) => sum + jsonWeight(other, digitsPerToken), 0);
  const rest = { weight, images: 0 };
  if (Array.isArray(content)) return content.map((part) => contentOfPart(part, digitsPerToken)).reduce(add, rest);
  if (content === null) return rest;
  const weigh = typeof content === 'string' ? textWeight : jsonWeight;
  return add(rest, { weight: weigh(content, digitsPerToken), images: 0 });
}

/** The estimate for a chat request; `prompt` and `system_prompt` count as a message each, no request as less than one. */
export function chatTokens(input: Input, imageTokens: number, digitsPerToken?: number): number {
  const messages = Array.isArray(input.messages) ? input.messages : [];
  const prompts = [input.prompt, input.system_prompt].filter((text) => text !== undefined);
  const content = messages
    .map((message) => contentOfMessage(message, digitsPerToken))
    .reduce(add, { weight: 0, images: 0 });
  const weight = [
    content.weight,
    ...prompts.map((text) => textWeight(text, digitsPerToken)),
    ...CONTEXT_FIELDS.map((field) => jsonWeight(input[field], digitsPerToken)),
  ].reduce((sum, next) => sum + next);
  const overhead = MESSAGE_TOKENS * Math.max(1, messages.length + prompts.length);
  return tokensOf(weight) + overhead + content.images * imageTokens;
}

/**
 * More than any chat request under the body limit is estimated at. The densest bodies are those of nothing but
 * image parts, or of empty messages; text is a token a byte at most, also where JSON is written longer than it was read.
 */
export const mostChatTokens = (imageTokens: number, bodyLimitBytes: number): number =>
  bodyLimitBytes * Math.max(MESSAGE_TOKENS, Math.ceil(imageTokens / SMALLEST_IMAGE_PART_BYTES));
