/**
 * OpenAI's responses protocol with search tools that run at the provider, as OpenAI and xAI speak it.
 * Source: `openai` 6.49.0 (resources/responses) and `@ai-sdk/xai` 5.0.12 (src/responses); `max_turns` of github
 * xai-org/xai-sdk-python (src/xai_sdk/chat.py) and docs.x.ai/developers/tools/tool-usage-details.
 */
import type { JsonSchema, Model } from '../../../catalogue/types.ts';
import { asJsonObject, asJsonObjects } from '../../../json.ts';
import type { CallContext, ModelBinding } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { reportUsage } from '../../reported-cost.ts';
import type { ChatMessage } from './chat.ts';
import { errorProblem } from './chat-errors.ts';

/** What a model's entry in `upstreams.yaml` may say of it. */
interface SearchModel extends Model {
  /** How the host calls the bound on searches; left out: it is told none. */
  readonly searchesParam?: 'max_turns' | 'max_tool_calls';
}

/** What it takes to ask a model that searches. */
export type SearchBinding = Pick<ModelBinding, 'upstream' | 'http'> & { readonly model: SearchModel };

/** Handles without `@`, at most ten; dates as `2026-01-31`. xAI alone searches X. */
export type SearchTool =
  | { readonly type: 'web_search'; readonly allowed_domains?: readonly string[] }
  | {
      readonly type: 'x_search';
      readonly allowed_x_handles?: readonly string[];
      readonly from_date?: string;
      readonly to_date?: string;
    };

interface ResponsesRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly SearchTool[];
  /** The answer's shape: strict, so every property required and `additionalProperties: false`. */
  readonly format?: { readonly name: string; readonly schema: JsonSchema };
}

/** A page that a tool really found. */
export interface Citation {
  readonly url: string;
  readonly title: string | null;
}

interface ResponsesAnswer {
  text: string;
  /** Without repetitions, in the order found. */
  citations: Citation[];
}

/** A message's content with pictures beside the text, which this protocol words in its own way. */
export const withInputImages = (text: string, urls: readonly string[]): unknown =>
  urls.length === 0
    ? text
    : [{ type: 'input_text', text }, ...urls.map((url) => ({ type: 'input_image', image_url: url }))];

/** Thinking between searches included: a caller's words may ask a model for volumes. */
const MOST_TOKENS = 16_384;

/** Each is billed, and all that it finds is read again with the next. xAI bounds rounds of them, OpenAI each. */
const MOST_SEARCHES = 5;

/** How xAI refuses what its model has not read yet, and what it bills for that: docs.x.ai/developers/models. */
const GUIDELINES_VIOLATED = /content violates usage guidelines/i;
const VIOLATION_FEE = '0.05';

/** One whole answer. Throws UpstreamProblem: refusals are `content-refused`, what was cut off is `malformed`. */
export async function respond(
  binding: SearchBinding,
  request: ResponsesRequest,
  context: Pick<CallContext, 'signal' | 'reportCost'>,
): Promise<ResponsesAnswer> {
  const { id, searchesParam } = binding.model;
  const response = await binding.http.request({
    method: 'POST',
    path: '/responses',
    json: {
      model: id,
      input: request.messages,
      store: false,
      max_output_tokens: MOST_TOKENS,
      ...(request.tools.length > 0 && {
        tools: request.tools,
        include: ['web_search_call.action.sources'],
        ...(searchesParam && { [searchesParam]: MOST_SEARCHES }),
      }),
      ...(request.format && { text: { format: { type: 'json_schema', strict: true, ...request.format } } }),
    },
    signal: context.signal,
    accept: [400, 403, 413, 422],
  });
  const answer = response.json();
  if (response.status >= 400) {
    const problem = errorProblem(binding.upstream, response.status, answer);
    if (GUIDELINES_VIOLATED.test(problem.providerMessage ?? '')) context.reportCost?.(VIOLATION_FEE);
    throw problem;
  }
  return readAnswer(binding.upstream, answer, context);
}

function readAnswer(upstream: string, answer: unknown, context: Pick<CallContext, 'reportCost'>): ResponsesAnswer {
  const { status, output, usage, error, incomplete_details: incomplete, citations } = asJsonObject(answer);
  // Whatever came of it is billed.
  reportUsage(usage, context);
  if (status === 'failed') throw errorProblem(upstream, 200, { error });
  if (!Array.isArray(output))
    throw new UpstreamProblem('malformed', upstream, 'answered no response: output is missing');
  const { reason } = asJsonObject(incomplete);
  if (reason === 'content_filter') throw refused(upstream, 'stopped by the content filter');
  if (reason === 'max_output_tokens') throw new UpstreamProblem('malformed', upstream, 'wrote more than it may');

  const items = output.map(asJsonObject);
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => asJsonObjects(content));
  const refusal = parts.find(({ type }) => type === 'refusal');
  if (refusal) throw refused(upstream, 'refused', String(refusal.refusal));
  const text = parts
    .map((part) => part.text)
    .filter((piece) => typeof piece === 'string')
    .join('');
  if (text === '') {
    throw new UpstreamProblem('malformed', upstream, 'answered no text', { providerMessage: String(status) });
  }

  return {
    text,
    citations: citationsOf([
      ...parts.flatMap(({ annotations }) => asJsonObjects(annotations)).filter(({ type }) => type === 'url_citation'),
      ...items.flatMap(({ action }) => asJsonObjects(asJsonObject(action).sources)),
      ...(Array.isArray(citations) ? citations.map((url) => ({ url })) : []),
    ]),
  };
}

/** Annotations come first because they have titles; xAI numbers them instead of naming the page. */
function citationsOf(found: readonly Readonly<Record<string, unknown>>[]): Citation[] {
  const citations = new Map<string, Citation>();
  for (const { url, title } of found) {
    if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url) || citations.has(url)) continue;
    const isNamed = typeof title === 'string' && title !== '' && !/^\d+$/.test(title);
    citations.set(url, { url, title: isNamed ? title : null });
  }
  return [...citations.values()];
}

function refused(upstream: string, message: string, providerMessage?: string): UpstreamProblem {
  return new UpstreamProblem('content-refused', upstream, message, {
    providerMessage,
    publicMessage: 'The model refused to answer this request',
  });
}
