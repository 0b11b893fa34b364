/**
 * OpenAI's responses protocol with search tools. What it finds, and the answer, are made from the input.
 * Read on 2026-11-22 in the schemas of `@ai-sdk/xai` 3.0.99 (src/responses/xai-responses-api.ts).
 */
import type { ModelFile, Upstream } from '../../catalogue/types.ts';
import { instanceOf } from '../../examples/schema-instance.ts';
import { digest, seeded } from '../../examples/seed.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasBearerKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';

export const responsesSearchDouble: DoubleKind = { adapter: 'responses-search', open };

interface Found {
  url: string;
  title: string;
}

const papers = ['herald.example', 'courier.example', 'gazette.example', 'dispatch.example'] as const;
const tools: ReadonlySet<unknown> = new Set(['web_search', 'x_search']);

function open(upstream: Upstream): Double {
  const models = Object.values(upstream.models ?? {});
  return {
    unauthorized(request) {
      if (hasBearerKey(request)) return undefined;
      return jsonAnswer(401, errorBody('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'));
    },
    isBilled: ({ method, path }) => method === 'POST' && path === '/responses',
    answer(request) {
      if (request.method !== 'POST' || request.path !== '/responses') {
        const message = `Unknown request URL: ${request.method} ${request.path}.`;
        return jsonAnswer(404, errorBody(message, 'invalid_request_error', null));
      }
      const body = jsonBody(request);
      return faultOf(body, models) ?? jsonAnswer(200, respond(body));
    },
    errorBody: (status) =>
      status === 429
        ? errorBody('Rate limit reached for requests', 'requests', 'rate_limit_exceeded')
        : errorBody('The server had an error while processing your request', 'server_error', null),
    refuse(request: DoubleRequest) {
      const response = respond(jsonBody(request));
      const refusal = { type: 'refusal', refusal: "I'm sorry, I can't help with that." };
      return jsonAnswer(200, { ...response, output: [{ ...response.output.at(-1), content: [refusal] }] });
    },
  };
}

const errorBody = (message: string, type: string, code: string | null) => ({
  error: { message, type, param: null, code },
});

function faultOf(body: Record<string, unknown>, models: readonly ModelFile[]): DoubleAnswer | undefined {
  const refuse = (status: number, message: string, code: string) =>
    jsonAnswer(status, errorBody(message, 'invalid_request_error', code));
  if (typeof body.input !== 'string' && !(Array.isArray(body.input) && body.input.length > 0)) {
    return refuse(400, "Missing required parameter: 'input'.", 'missing_required_parameter');
  }
  if (models.length > 0 && !models.some(({ id }) => id === body.model)) {
    return refuse(404, `The model '${body.model}' does not exist`, 'model_not_found');
  }
  const unknown = toolsOf(body).find(({ type }) => !tools.has(type));
  if (unknown) return refuse(400, `Invalid value: '${unknown.type}' for 'tools[0].type'.`, 'invalid_value');
  return undefined;
}

function respond(body: Record<string, unknown>) {
  const input = JSON.stringify(body.input);
  const seed = digest(`${body.model} ${input}`);
  const found = toolsOf(body).flatMap((tool) => findings(tool, seed));
  const text = textFor(body, seed, found);
  const annotations = found.map(({ url, title }) => ({
    type: 'url_citation',
    url,
    title,
    start_index: 0,
    end_index: 0,
  }));
  const content = [{ type: 'output_text', text, annotations, logprobs: [] }];
  const calls = toolsOf(body).map(({ type }, index) => ({
    type: `${type}_call`,
    id: `${type === 'x_search' ? 'xs' : 'ws'}_${seed}${index}`,
    status: 'completed',
    action: {
      type: 'search',
      query: input.slice(0, 80),
      sources: type === 'web_search' ? found.map(({ url }) => ({ type: 'url', url })) : [],
    },
  }));
  const [inputTokens, outputTokens] = [Math.ceil(input.length / 4), Math.ceil(text.length / 4)];
  return {
    id: `resp_${seed}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'completed',
    model: body.model,
    error: null,
    incomplete_details: null,
    output: [...calls, { type: 'message', id: `msg_${seed}`, role: 'assistant', status: 'completed', content }],
    parallel_tool_calls: true,
    tools: body.tools ?? [],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
      num_sources_used: found.length,
      num_server_side_tools_used: calls.length,
      cost_in_usd_ticks: (inputTokens * 2 + outputTokens * 6 + calls.length * 5000) * 10_000,
    },
  };
}

interface Tool {
  type: unknown;
  allowed_x_handles?: unknown;
}

const toolsOf = (body: Record<string, unknown>): Tool[] => (Array.isArray(body.tools) ? body.tools : []);

function findings({ type, allowed_x_handles: handles }: Tool, seed: string): Found[] {
  const random = seeded(`${seed} ${type}`);
  return Array.from({ length: 2 }, (_, index) => {
    const number = random.integer(1000, 9999);
    if (type === 'x_search') {
      const handle = Array.isArray(handles) ? String(handles[0]) : 'someone';
      return { url: `https://x.com/${handle}/status/18${number}${index}`, title: `Post by ${handle}` };
    }
    return { url: `https://${random.pick(papers)}/story/${number}`, title: `Story ${number}` };
  });
}

function textFor(body: Record<string, unknown>, seed: string, found: readonly Found[]): string {
  const { format } = (body.text ?? {}) as { format?: { type?: unknown; schema?: unknown } };
  if (format?.type === 'json_schema') return structuredText(instanceOf(format.schema, seed), found);
  return `Here is what I found. ${found.map(({ title, url }) => `[${title}](${url})`).join(' ')}`.trim();
}

/** What the model quotes is what it found: every `url` is one of these. */
function structuredText(answer: unknown, found: readonly Found[]): string {
  let quoted = 0;
  return JSON.stringify(answer, (name, value: unknown) => {
    if (name !== 'url' || found.length === 0) return value;
    quoted += 1;
    return found[(quoted - 1) % found.length]?.url;
  });
}
