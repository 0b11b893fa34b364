import type { JsonSchema } from '../../../catalogue/types.ts';
import type { CallContext } from '../../adapter.ts';
import type { ChatMessage } from './chat.ts';
import { type Citation, respond, type SearchBinding, type SearchTool } from './responses.ts';
import { askUntilItFits } from './structured.ts';

interface SearchRequest {
  /** Names the schema to the model: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Every property required and `additionalProperties: false`, as strict output asks. */
  readonly schema: JsonSchema;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly SearchTool[];
}

/**
 * A value of the schema's type from a model that searches first, with the pages that it really found: addresses in the
 * value itself may be made up. What does not fit the schema goes back once, without searching again.
 * Throws UpstreamProblem: `malformed` when the second answer does not fit either.
 */
export async function search<Value>(
  binding: SearchBinding,
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
