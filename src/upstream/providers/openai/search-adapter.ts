/** A language model that searches the web, or X, while it answers: OpenAI's responses protocol, also xAI's. */
import type { JsonSchema } from '../../../catalogue/types.ts';
import type { Adapter, Binding, CallContext } from '../../adapter.ts';
import type { ChatMessage } from './chat.ts';
import { type Citation, respond, type SearchTool } from './responses.ts';
import { askUntilItFits } from './structured.ts';

export type { Citation, SearchTool } from './responses.ts';

/** Plain text from a model that searches first, with the pages that it really found. Throws UpstreamProblem. */
export { respond as searchText } from './responses.ts';

export type SearchOptions = { readonly tools: readonly SearchTool['type'][] };

export interface SearchRequest {
  /** Names the schema to the model: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Every property required and `additionalProperties: false`, as strict output asks. */
  readonly schema: JsonSchema;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly SearchTool[];
}

export const responsesSearch: Adapter<SearchOptions> = {
  name: 'responses-search',
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

/**
 * A value of the schema's type from a model that searches first, with the pages that it really found: addresses in the
 * value itself may be made up. What does not fit the schema goes back once, without searching again.
 * Throws UpstreamProblem: `malformed` when the second answer does not fit either.
 */
export async function search<Value>(
  binding: Pick<Binding, 'upstream' | 'http' | 'model'>,
  request: SearchRequest,
  context: Pick<CallContext, 'signal' | 'reportCost'>,
): Promise<{ value: Value; citations: Citation[] }> {
  const { name, schema } = request;
  let citations: Citation[] | undefined;
  const value = await askUntilItFits<Value>(binding.upstream, request, async (messages) => {
    const tools = citations === undefined ? request.tools : [];
    const answer = await respond(binding, { messages, tools, format: { name, schema } }, context);
    citations ??= answer.citations;
    return answer.text;
  });
  return { value, citations: citations ?? [] };
}
