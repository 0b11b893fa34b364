/** Text from any host that speaks OpenAI chat completions. */
import type { SoldTerms } from '../../../catalogue/types.ts';
import type { ModelAdapter } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type ChatAnswer, chat } from './chat.ts';
import { chatMetadata, chatModelOptions, chatReads, chatRequestOf, chatUsage } from './chat-input.ts';

type ChatOptions = {
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
    properties: {
      result: { enum: ['tiered', 'usage'], description: 'The form of the answer: with its tier, or with its usage' },
    },
  },
  reads: () => chatReads,
  answers: ({ result }) => ['text', 'model', 'usage', 'metadata', ...(result === 'tiered' ? ['tier'] : [])],
  modelOptions: chatModelOptions,
  boundsOutput: true,
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const { model } = binding;
    const answer = await chat(binding, chatRequestOf(input, binding, context.terms), context);
    const metadata = chatMetadata(input, model, answer);
    switch (binding.options.result) {
      case 'tiered':
        if (answer.text.trim() === '') throw unwritten(binding.upstream, answer, context.terms);
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

/** A tier is paid for as a whole, so an answer without a word is none. Models that reason may use it all up first. */
function unwritten(upstream: string, answer: ChatAnswer, terms: SoldTerms | undefined): UpstreamProblem {
  const { finishReason, reasoningTokens = 0 } = answer;
  if (finishReason !== 'length' && reasoningTokens === 0) {
    return new UpstreamProblem('malformed', upstream, 'answered without a word');
  }
  const tier = terms ? `the ${terms.maxOutputTokens} tokens of the tier ${terms.tier ?? ''}`.trim() : 'the whole tier';
  return new UpstreamProblem('invalid-input', upstream, 'used the tier up by reasoning', {
    publicMessage: `The model used ${tier} for reasoning and wrote nothing: choose a larger tier or, where there is one, a lower reasoning_effort`,
  });
}
