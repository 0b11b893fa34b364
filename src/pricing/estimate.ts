/**
 * How many input tokens a request stands for, before any provider has counted. Text is UTF-8 bytes / 4; requests
 * are read as OpenAI chat completions have them (`messages`, `tools`, ...), or as `prompt` and `system_prompt`.
 */
import type { Input } from '../catalogue/types.ts';

/** The largest request body the gateway reads. Bounds what a request's text can cost. */
export const BODY_LIMIT_BYTES = 1_048_576;

/** What an image counts for where options do not say. */
export const IMAGE_TOKENS = 1600;

/** Role and separators of one message, as chat templates add them. */
const MESSAGE_TOKENS = 8;
const BYTES_PER_TOKEN = 4;
const SMALLEST_IMAGE_PART_BYTES = '{"type":"image_url"}'.length;

/** Fields besides the messages that providers put into the model's context. */
const CONTEXT_FIELDS = ['tools', 'functions', 'response_format'];

/** UTF-8 bytes of a string; nothing for a field that is left out. */
export const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);

/** Tokens of so many bytes of text, rounded up. */
export const textTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

interface Content {
  bytes: number;
  images: number;
}

const jsonBytes = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function add(total: Content, more: Content): Content {
  return { bytes: total.bytes + more.bytes, images: total.images + more.images };
}

function contentOfPart(part: unknown): Content {
  if (!isObject(part)) return { bytes: jsonBytes(part), images: 0 };
  if (part.type === 'image_url') return { bytes: 0, images: 1 };
  if (part.type === 'text') return { bytes: textBytes(part.text), images: 0 };
  return { bytes: jsonBytes(part), images: 0 };
}

/** Whatever is not known to be free counts: names, tool calls and unknown parts by their JSON. */
function contentOfMessage(message: unknown): Content {
  if (!isObject(message)) return { bytes: jsonBytes(message), images: 0 };
  const { role: _, content, ...others } = message;
  const rest = { bytes: Object.values(others).reduce<number>((sum, other) => sum + jsonBytes(other), 0), images: 0 };
  if (Array.isArray(content)) return content.map(contentOfPart).reduce(add, rest);
  if (content === null) return rest;
  return add(rest, { bytes: typeof content === 'string' ? textBytes(content) : jsonBytes(content), images: 0 });
}

/** The estimate for a chat request; `prompt` and `system_prompt` count as a message each, no request as less than one. */
export function chatTokens(input: Input, imageTokens: number): number {
  const messages = Array.isArray(input.messages) ? input.messages : [];
  const prompts = [input.prompt, input.system_prompt].filter((text) => text !== undefined);
  const content = messages.map(contentOfMessage).reduce(add, { bytes: 0, images: 0 });
  const bytes = [
    content.bytes,
    ...prompts.map(textBytes),
    ...CONTEXT_FIELDS.map((field) => jsonBytes(input[field])),
  ].reduce((sum, next) => sum + next);
  const overhead = MESSAGE_TOKENS * Math.max(1, messages.length + prompts.length);
  return textTokens(bytes) + overhead + content.images * imageTokens;
}

/**
 * More than any chat request under the body limit is estimated at. The densest bodies are those of nothing but
 * image parts, or of empty messages; text is far thinner, even where JSON is written longer than it was read.
 */
export const mostChatTokens = (imageTokens: number): number =>
  BODY_LIMIT_BYTES * Math.max(MESSAGE_TOKENS, Math.ceil(imageTokens / SMALLEST_IMAGE_PART_BYTES));
