/** A language model that searches the web, or X, while it answers: OpenAI's responses protocol, also xAI's. */
import type { ModelAdapter } from '../../adapter.ts';
import { respond, type SearchTool } from './responses.ts';

type SearchOptions = { readonly tools: readonly SearchTool['type'][] };

export const responsesSearch: ModelAdapter<SearchOptions, 'responses-search'> = {
  name: 'responses-search',
  model: 'named',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['tools'],
    properties: {
      tools: {
        type: 'array',
        minItems: 1,
        items: { enum: ['web_search', 'x_search'] },
        description: 'Where the model may search; xAI alone searches X',
      },
    },
  },
  modelOptions: {
    type: 'object',
    properties: {
      searchesParam: {
        enum: ['max_turns', 'max_tool_calls'],
        description:
          "How the host calls the bound on an answer's searches: xAI max_turns, OpenAI max_tool_calls; left out, it is told none",
      },
    },
  },
  reads: () => ({ fields: { prompt: 'string' } }),
  answers: () => ['text', 'citations'],
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const messages = [{ role: 'user', content: String(input.prompt) }];
    const { text, citations } = await respond(
      binding,
      { messages, tools: binding.options.tools.map((type) => ({ type })) },
      context,
    );
    return { text, citations };
  },
};
