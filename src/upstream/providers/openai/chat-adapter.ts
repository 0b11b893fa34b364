/** Text from any host that speaks OpenAI chat completions. */
import type { ModelAdapter } from '../../adapter.ts';
import { chat } from './chat.ts';
import { chatMetadata, chatModelOptions, chatRequestOf, chatUsage } from './chat-input.ts';

export type ChatOptions = {
  /** `tiered`: the caller chooses an output ceiling by name; `usage`: by `max_tokens`. */
  readonly result: 'tiered' | 'usage';
};

export const openaiChat: ModelAdapter<ChatOptions, 'openai-chat'> = {
  name: 'openai-chat',
  model: 'named-or-asked',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result'],
    properties: { result: { enum: ['tiered', 'usage'] } },
  },
  modelOptions: chatModelOptions,
  boundsOutput: true,
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const { model } = binding;
    const answer = await chat(binding, chatRequestOf(input, binding, context.terms), context);
    const metadata = chatMetadata(input, model, answer);
    switch (binding.options.result) {
      case 'tiered':
        return {
          text: answer.text,
          model: model.name,
          tier: context.terms?.tier,
          usage: { input_tokens: answer.promptTokens, output_tokens: answer.completionTokens },
          metadata,
        };
      case 'usage':
        return { text: answer.text, model: model.name, usage: chatUsage(answer), metadata };
    }
  },
};
