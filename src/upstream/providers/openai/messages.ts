/**
 * A conversation made anew from the fields that are known, so that nothing reaches a provider, and its bill, that was
 * not counted. Source: openai-openapi 2.3.0, `ChatCompletionRequestMessage`.
 */
import { isJsonObject, type JsonObject } from '../../../json.ts';
import type { ChatMessage } from './chat.ts';

/** What a conversation may not hold. `place` is where it stands, as in `messages[0].content[1].type`. */
export class MessageProblem extends Error {
  readonly place: string;

  constructor(place: string, message: string) {
    super(`${place} ${message}`);
    this.name = 'MessageProblem';
    this.place = place;
  }
}

/** How closely a picture is looked at. Others cost more tokens than are counted for one. */
const DETAILS = ['low', 'high', 'auto'];

/** `image/jpg` is how many write `image/jpeg`. Anything else, such as a document, may be billed by its pages. */
const PICTURE_DATA = /^data:image\/(png|jpeg|jpg|webp|gif);base64,/;

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Kinds of content whose tokens can be estimated before the call; sound and files cannot. */
const parts: Readonly<Record<string, (part: JsonObject, place: string) => JsonObject>> = {
  text: ({ text }, place) => ({ type: 'text', text: textAt(text, `${place}.text`) }),
  refusal: ({ refusal }, place) => ({ type: 'refusal', refusal: textAt(refusal, `${place}.refusal`) }),
  image_url: ({ image_url: image }, place) => {
    const { url, detail } = objectAt(image, `${place}.image_url`);
    return {
      type: 'image_url',
      image_url: {
        url: pictureAt(url, `${place}.image_url.url`),
        ...(isGiven(detail) && { detail: detailAt(detail, `${place}.image_url.detail`) }),
      },
    };
  },
};

/**
 * The messages with their role, content, name, refusal and calls, what the model thought, and no other field. Throws
 * MessageProblem, also for parts of other types than text, image_url and refusal.
 */
export const knownMessages = (messages: readonly unknown[]): ChatMessage[] =>
  messages.map((message, index) => knownMessage(message, `messages[${index}]`));

function knownMessage(given: unknown, place: string): ChatMessage {
  const message = objectAt(given, place);
  const { role, content, name, refusal, tool_calls: calls, tool_call_id: callId, function_call: call } = message;
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw new MessageProblem(`${place}.role`, `is not one of ${ROLES.join(', ')}`);
  }
  return {
    role,
    content: knownContent(content, `${place}.content`),
    ...textIfAny(name, `${place}.name`, 'name'),
    ...textIfAny(refusal, `${place}.refusal`, 'refusal'),
    ...(role === 'assistant' && thoughtsOf(message, place)),
    ...textIfAny(callId, `${place}.tool_call_id`, 'tool_call_id'),
    ...(isGiven(calls) && { tool_calls: knownCalls(calls, `${place}.tool_calls`) }),
    ...(isGiven(call) && { function_call: knownFunctionCall(call, `${place}.function_call`) }),
  };
}

/**
 * Models that think while they call functions refuse a conversation that lacks it. Source: DeepSeek's "Thinking Mode" and
 * OpenRouter's "Preserving Reasoning", which names both fields as one.
 */
const thoughtsOf = ({ reasoning, reasoning_content: content }: JsonObject, place: string): JsonObject => ({
  ...textIfAny(reasoning, `${place}.reasoning`, 'reasoning'),
  ...textIfAny(content, `${place}.reasoning_content`, 'reasoning_content'),
});

function knownContent(content: unknown, place: string): unknown {
  if (!isGiven(content)) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new MessageProblem(place, 'is neither text nor a list of parts');
  return content.map((given, index) => {
    const part = objectAt(given, `${place}[${index}]`);
    const known = typeof part.type === 'string' && Object.hasOwn(parts, part.type) ? parts[part.type] : undefined;
    if (known) return known(part, `${place}[${index}]`);
    throw new MessageProblem(
      `${place}[${index}].type`,
      `is not supported here: it takes ${Object.keys(parts).join(', ')}`,
    );
  });
}

function knownCalls(calls: unknown, place: string): JsonObject[] {
  if (!Array.isArray(calls)) throw new MessageProblem(place, 'is not a list');
  return calls.map((given, index) => {
    const { id, type, function: call } = objectAt(given, `${place}[${index}]`);
    if (type !== 'function') {
      throw new MessageProblem(`${place}[${index}].type`, 'is not supported here: it takes function');
    }
    return {
      id: textAt(id, `${place}[${index}].id`),
      type,
      function: knownFunctionCall(call, `${place}[${index}].function`),
    };
  });
}

function knownFunctionCall(call: unknown, place: string): JsonObject {
  const { name, arguments: given } = objectAt(call, place);
  return { name: textAt(name, `${place}.name`), arguments: textAt(given, `${place}.arguments`) };
}

/** Clients write null for what they leave out. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function objectAt(value: unknown, place: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new MessageProblem(place, 'is not an object');
}

function textAt(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw new MessageProblem(place, 'is not text');
}

function pictureAt(value: unknown, place: string): string {
  const url = textAt(value, place);
  // Whoever reads an address takes the name of its scheme in capitals as well, and blanks before it.
  if (!/^\s*data:/i.test(url) || PICTURE_DATA.test(url)) return url;
  throw new MessageProblem(place, 'is data of another kind: it takes data:image/png;base64, and jpeg, webp or gif');
}

function detailAt(value: unknown, place: string): string {
  if (typeof value === 'string' && DETAILS.includes(value)) return value;
  throw new MessageProblem(place, `is not one of ${DETAILS.join(', ')}`);
}

const textIfAny = (value: unknown, place: string, name: string): JsonObject =>
  isGiven(value) ? { [name]: textAt(value, place) } : {};
