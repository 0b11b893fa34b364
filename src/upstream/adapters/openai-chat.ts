/** Text from any host that speaks OpenAI chat completions. */
import type { Input, Model } from '../../catalogue/types.ts';
import { type Adapter, type Binding, modelOf } from '../adapter.ts';
import { UpstreamProblem } from '../problem.ts';
import { type ChatAnswer, type ChatMessage, type ChatModel, chat, withImages } from '../protocols/openai-chat.ts';

export type ChatOptions = {
  /** `tiered`: the caller chooses an output ceiling by name; `usage`: by `max_tokens`. */
  readonly result: 'tiered' | 'usage';
  /** Output tokens of each tier; the same numbers as in the endpoint's price. */
  readonly tiers?: { readonly [tier: string]: number };
};

const usualTiers: { readonly [tier: string]: number } = { small: 1024, medium: 4096, large: 8192 };

export const openaiChat: Adapter<ChatOptions> = {
  name: 'openai-chat',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result'],
    properties: {
      result: { enum: ['tiered', 'usage'] },
      tiers: {
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: 'integer', minimum: 1 },
        description: 'Output tokens of each tier; small 1024, medium 4096, large 8192 unless given',
      },
    },
  },
  modelOptions: {
    type: 'object',
    properties: {
      tokenParam: { enum: ['max_tokens', 'max_completion_tokens'], description: 'max_tokens unless given' },
      reasoningParam: { enum: ['reasoning_effort', 'reasoning'], description: 'reasoning_effort unless given' },
      supportsTemperature: { type: 'boolean' },
      supportsJsonSchema: { type: 'boolean' },
      supportsImageUrl: { type: 'boolean' },
    },
  },
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const model = chosenModel(input, binding);
    const messages = messagesOf(input);
    if (model.supportsImageUrl === false && messages.some(hasImage)) {
      throw new UpstreamProblem('invalid-input', binding.upstream, `${model.id} takes no images`, {
        forCaller: `The model ${model.name} reads no images: send text, or name another model`,
      });
    }
    const answer = await chat(
      binding,
      {
        model,
        messages,
        maxTokens: outputCap(input, model, binding.options),
        ...(typeof input.temperature === 'number' && { temperature: input.temperature }),
        ...(typeof input.reasoning_effort === 'string' && { reasoningEffort: input.reasoning_effort }),
      },
      context,
    );
    const metadata = metadataOf(input, model, answer, binding);
    switch (binding.options.result) {
      case 'tiered':
        return {
          text: answer.text,
          model: model.name,
          tier: input.tier,
          usage: { input_tokens: answer.promptTokens, output_tokens: answer.completionTokens },
          metadata,
        };
      case 'usage':
        return {
          text: answer.text,
          model: model.name,
          usage: {
            prompt_tokens: answer.promptTokens,
            completion_tokens: answer.completionTokens,
            total_tokens: answer.totalTokens,
          },
          metadata,
        };
    }
  },
};

/** The model that the caller names, else the endpoint's. */
function chosenModel(input: Input, binding: Binding<ChatOptions>): ChatModel {
  if (input.model === undefined) return modelOf(binding);
  const model = binding.models[String(input.model)];
  if (model === undefined) throw new Error(`the upstream ${binding.upstream} has no model ${String(input.model)}`);
  return model;
}

/** `messages` as they are, `system_prompt` before and `prompt`, with an `image`, after them. */
function messagesOf(input: Input): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (typeof input.system_prompt === 'string') messages.push({ role: 'system', content: input.system_prompt });
  if (Array.isArray(input.messages)) messages.push(...input.messages);
  if (typeof input.prompt === 'string') {
    messages.push({
      role: 'user',
      content: withImages(input.prompt, typeof input.image === 'string' ? [input.image] : []),
    });
  }
  return messages;
}

const hasImage = ({ content }: ChatMessage): boolean =>
  Array.isArray(content) && content.some((part) => (part as { type?: unknown } | null)?.type === 'image_url');

/** The same bound that the price was quoted for: a caller never gets more tokens than it paid for. */
function outputCap(input: Input, model: Model, { result, tiers = usualTiers }: ChatOptions): number {
  if (result === 'tiered') {
    const tokens = tiers[String(input.tier)];
    if (tokens === undefined) throw new Error(`no number of tokens for the tier ${String(input.tier)}`);
    return tokens;
  }
  const { maxOutput, defaultOutput } = model;
  if (maxOutput === undefined || defaultOutput === undefined) {
    throw new Error(`upstreams.yaml does not say maxOutput and defaultOutput of the model ${model.name}`);
  }
  return Math.ceil(Math.min(typeof input.max_tokens === 'number' ? input.max_tokens : defaultOutput, maxOutput));
}

function metadataOf(input: Input, model: ChatModel, answer: ChatAnswer, binding: Binding<ChatOptions>) {
  const isTemperatureDropped = input.temperature !== undefined && model.supportsTemperature === false;
  return {
    finish_reason: answer.finishReason,
    upstream_id: answer.id,
    ...(answer.reasoningTokens !== undefined && { reasoning_tokens: answer.reasoningTokens }),
    ...(isTemperatureDropped && { ignored: ['temperature'] }),
    ...(binding.settings.sandbox === true && { sandbox: true }),
  };
}
