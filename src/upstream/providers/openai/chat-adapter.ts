/** Text from any host that speaks OpenAI chat completions. */
import type { Input, Model } from '../../../catalogue/types.ts';
import type { Adapter } from '../../adapter.ts';
import { chat } from './chat.ts';
import { chatMetadata, chatModelOptions, chatRequestOf, chatUsage, chosenModel, outputBound } from './chat-input.ts';

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
  modelOptions: chatModelOptions,
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const model = chosenModel(input, binding);
    const request = chatRequestOf(input, model, outputCap(input, model, binding.options), binding.upstream);
    const answer = await chat(binding, request, context);
    const metadata = chatMetadata(input, model, answer, binding.settings.sandbox);
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
        return { text: answer.text, model: model.name, usage: chatUsage(answer), metadata };
    }
  },
};

/** The same bound that the price was quoted for: a caller never gets more tokens than it paid for. */
function outputCap(input: Input, model: Model, { result, tiers = usualTiers }: ChatOptions): number {
  if (result === 'usage') return outputBound(input, model);
  const tokens = tiers[String(input.tier)];
  if (tokens === undefined) throw new Error(`no number of tokens for the tier ${String(input.tier)}`);
  return tokens;
}
