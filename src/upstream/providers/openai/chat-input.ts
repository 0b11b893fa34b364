/** How an endpoint's request becomes a request to a chat model, whichever host serves the model. */
import type { RequestReads } from '../../../catalogue/contracts.ts';
import type { Input, JsonSchema, SoldTerms } from '../../../catalogue/types.ts';
import { asJsonObject, asJsonObjects } from '../../../json.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type ChatAnswer, type ChatMessage, type ChatModel, type ChatRequest, withImages } from './chat.ts';
import { knownMessages, MessageProblem } from './messages.ts';

/** What a model's entry may hold besides the common keys. */
export const chatModelOptions: JsonSchema = {
  type: 'object',
  properties: {
    tokenParam: {
      enum: ['max_tokens', 'max_completion_tokens'],
      default: 'max_tokens',
      description: 'How the host calls the bound on output tokens',
    },
    beyondBound: {
      type: 'integer',
      minimum: 0,
      default: 0,
      examples: [16384],
      description:
        'Output tokens that it may think, or call functions with, beyond that bound, where the host keeps it for the words that are shown: held besides for a call with an API key',
    },
    reasoningParam: {
      enum: ['reasoning_effort', 'reasoning'],
      default: 'reasoning_effort',
      description: "How the host is told the effort: by a word, or by OpenRouter's reasoning: { effort }",
    },
    supportsTemperature: { type: 'boolean', default: true, description: 'Whether a temperature is sent' },
    supportsJsonSchema: { type: 'boolean', default: true, description: 'Whether it can be held to a JSON Schema' },
    supportsImageUrl: { type: 'boolean', default: true, description: 'Whether it reads images' },
  },
};

/** What a request to a chat model is made of; `tier` and `max_tokens` by way of the price. */
export const chatReads: RequestReads = {
  fields: {
    model: 'string?',
    prompt: 'string?',
    system_prompt: 'string?',
    image: 'string?',
    messages: 'array?',
    tier: 'string?',
    max_tokens: 'number?',
    temperature: 'number?',
    reasoning_effort: 'string?',
  },
  oneOf: ['prompt', 'messages'],
};

/**
 * The caller's words and settings for a model, with as much output as was sold. Throws UpstreamProblem `invalid-input`
 * for images that the model does not read, and for parts of messages that nobody counted.
 */
export function chatRequestOf(
  input: Input,
  { upstream, model }: { upstream: string; model: ChatModel },
  terms: SoldTerms | undefined,
): ChatRequest {
  const messages = messagesOf(input, upstream);
  if (model.supportsImageUrl === false && messages.some(hasImage)) {
    throw new UpstreamProblem('invalid-input', upstream, `${model.id} takes no images`, {
      publicMessage: `The model ${model.name} reads no images: send text, or name another model`,
    });
  }
  return {
    messages,
    words: 'caller',
    ...(terms && { maxTokens: terms.maxOutputTokens }),
    ...(typeof input.temperature === 'number' && { temperature: input.temperature }),
    ...(typeof input.reasoning_effort === 'string' && { reasoningEffort: input.reasoning_effort }),
  };
}

/** `messages` from their known fields, `system_prompt` before and `prompt`, with an `image`, after them. */
function messagesOf(input: Input, upstream: string): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (typeof input.system_prompt === 'string') messages.push({ role: 'system', content: input.system_prompt });
  if (Array.isArray(input.messages)) messages.push(...conversation(input.messages, upstream));
  if (typeof input.prompt === 'string') {
    messages.push({
      role: 'user',
      content: withImages(input.prompt, typeof input.image === 'string' ? [input.image] : []),
    });
  }
  return messages.map(withBoundPictures);
}

/**
 * Left to itself, a model may look at a picture as it is, in many times the tokens that were quoted for one: up to 36,000
 * at GPT-5.6. `high` bounds them. Source: OpenAI's "Images and vision", `detail`.
 */
function withBoundPictures(message: ChatMessage): ChatMessage {
  if (!Array.isArray(message.content)) return message;
  const content = asJsonObjects(message.content).map((part) => {
    if (part.type !== 'image_url') return part;
    const image = asJsonObject(part.image_url);
    return { ...part, image_url: { ...image, detail: image.detail === 'low' ? 'low' : 'high' } };
  });
  return { ...message, content };
}

function conversation(messages: readonly unknown[], upstream: string): ChatMessage[] {
  try {
    return knownMessages(messages);
  } catch (problem) {
    if (!(problem instanceof MessageProblem)) throw problem;
    throw new UpstreamProblem('invalid-input', upstream, problem.message, { publicMessage: problem.message });
  }
}

const hasImage = ({ content }: ChatMessage): boolean => asJsonObjects(content).some(({ type }) => type === 'image_url');

export function chatMetadata(input: Input, model: ChatModel, answer: ChatAnswer) {
  const isTemperatureDropped = input.temperature !== undefined && model.supportsTemperature === false;
  return {
    finish_reason: answer.finishReason,
    upstream_id: answer.id,
    ...(answer.reasoningTokens !== undefined && { reasoning_tokens: answer.reasoningTokens }),
    ...(isTemperatureDropped && { ignored: ['temperature'] }),
  };
}

/** A chat completion's use of tokens, in its own names. */
export const chatUsage = (answer: ChatAnswer) => ({
  prompt_tokens: answer.promptTokens,
  completion_tokens: answer.completionTokens,
  total_tokens: answer.totalTokens,
});
