/**
 * OpenAI chat completions, plain and streamed, with structured output. Text is made from the prompt. Where the upstream's
 * address is OpenRouter's, with what OpenRouter adds, and with its errors.
 * Read on 2026-11-22 in the types of `openai` 6.49.0 (resources/chat/completions) and of `@openrouter/sdk` 1.3.19
 * (models/chatresult, chatstreamchunk, chatusage, apierrortype), and at openrouter.ai/docs/api/reference/errors-and-debugging.
 * What hosts behind OpenRouter say in `metadata.raw`, and its words for an unknown model, are as consumers show them.
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

export const openaiChatDouble: DoubleKind = { adapter: 'openai-chat', open };

interface Completion {
  id: string;
  created: number;
  model: string;
  /** As many as `n` asks for. */
  choices: readonly Choice[];
  usage: Record<string, unknown>;
}

interface Choice {
  index: number;
  text: string;
  /** A function to be called in place of text. */
  toolCall: ToolCall | undefined;
  finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  /** How many likely tokens are listed beside each that was written; undefined where nobody asked for probabilities. */
  likely: number | undefined;
}

interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

const sentences = [
  'The short answer is that it depends on what you measure.',
  'Three things matter most: cost, time and how often it has to be done again.',
  'A small experiment tells more than a long argument.',
  'Start with the part that is hardest to change later.',
  'What looks like one problem is often two that met.',
  'Most of it can wait; a little of it cannot.',
] as const;

/** What a host adds to the protocol, and how it says that a call failed. */
interface Dialect {
  errorBody(status: number, message: string, code: string | null): object;
  unknownModel(model: unknown): DoubleAnswer;
  refuse(completion: Completion): DoubleAnswer;
  readonly idPrefix: string;
  /** Beside the fields of every completion and chunk. */
  readonly extra: object;
  readonly choiceExtra: (finishReason: string | null) => object;
  /** What it streams before the first chunk. */
  readonly opening: string;
}

const openai: Dialect = {
  errorBody: (status, message, code) => ({
    error: { message, type: openaiTypes[status] ?? 'invalid_request_error', param: null, code },
  }),
  unknownModel: (model) =>
    jsonAnswer(404, openai.errorBody(404, `The model '${model}' does not exist`, 'model_not_found')),
  refuse({ choices: [first], ...completion }) {
    const choices = first ? [{ ...first, text: '', toolCall: undefined, finishReason: 'content_filter' as const }] : [];
    return jsonAnswer(200, whole({ ...completion, choices }, openai));
  },
  idPrefix: 'chatcmpl-',
  extra: {},
  choiceExtra: () => ({}),
  opening: '',
};

const openaiTypes: Readonly<Record<number, string>> = { 429: 'requests', 500: 'server_error' };

const openRouter: Dialect = {
  errorBody: (status, message) => openRouterError(status, message),
  unknownModel: (model) => jsonAnswer(400, openRouterError(400, `${model} is not a valid model ID`)),
  refuse: ({ model }) =>
    jsonAnswer(
      403,
      openRouterError(403, 'Your chosen model requires moderation and your input was flagged', {
        error_type: 'content_policy_violation',
        reasons: ['violence'],
        flagged_input: '...',
        provider_name: 'OpenAI',
        model_slug: model,
      }),
    ),
  idPrefix: 'gen-',
  extra: { provider: 'Sandbox', system_fingerprint: null, service_tier: null },
  choiceExtra: (finishReason) => ({ native_finish_reason: finishReason }),
  opening: ': OPENROUTER PROCESSING\n\n',
};

const openRouterTypes: Readonly<Record<number, string>> = {
  401: 'authentication',
  404: 'not_found',
  429: 'rate_limit_exceeded',
  500: 'server',
};

function openRouterError(status: number, message: string, metadata: object = {}) {
  const error_type = openRouterTypes[status] ?? 'invalid_request';
  return { error: { message, code: status, metadata: { error_type, ...metadata } }, user_id: 'user_2sandbox' };
}

function open(upstream: Upstream): Double {
  const models = Object.values(upstream.models ?? {});
  const dialect = new URL(upstream.baseUrl).hostname.endsWith('openrouter.ai') ? openRouter : openai;
  const refused = (status: number, message: string, code: string | null) =>
    jsonAnswer(status, dialect.errorBody(status, message, code));

  return {
    unauthorized(request) {
      if (hasBearerKey(request)) return undefined;
      return refused(401, 'Incorrect API key provided.', 'invalid_api_key');
    },
    isBilled: ({ method, path }) => method === 'POST' && path === '/chat/completions',
    answer(request) {
      if (request.method === 'GET' && request.path === '/models') {
        return jsonAnswer(200, { object: 'list', data: models.map(({ id }) => ({ id, object: 'model' })) });
      }
      if (request.method !== 'POST' || request.path !== '/chat/completions') {
        return refused(404, `Unknown request URL: ${request.method} ${request.path}.`, null);
      }
      const body = jsonBody(request);
      const fault = faultOf(body, models, dialect);
      if (fault) return fault;
      const completion = complete(body, models, dialect);
      return body.stream === true ? streamed(completion, body, dialect) : jsonAnswer(200, whole(completion, dialect));
    },
    errorBody: (status) =>
      status === 429
        ? dialect.errorBody(429, 'Rate limit reached for requests', 'rate_limit_exceeded')
        : dialect.errorBody(500, 'The server had an error while processing your request', null),
    refuse: (request: DoubleRequest) => dialect.refuse(complete(jsonBody(request), models, dialect)),
  };
}

function faultOf(
  body: Record<string, unknown>,
  models: readonly ModelFile[],
  dialect: Dialect,
): DoubleAnswer | undefined {
  const refused = (message: string, code: string) => jsonAnswer(400, dialect.errorBody(400, message, code));
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    return refused("Missing required parameter: 'messages'.", 'missing_required_parameter');
  }
  if (models.length > 0 && !models.some(({ id }) => id === body.model)) return dialect.unknownModel(body.model);
  if (body.temperature !== undefined && !(Number(body.temperature) >= 0 && Number(body.temperature) <= 2)) {
    return refused("Invalid 'temperature': expected 0 to 2.", 'decimal_above_max_value');
  }
  if (Number(body.top_logprobs ?? 0) > 20) {
    return refused("Invalid 'top_logprobs': integer above maximum value.", 'integer_above_max_value');
  }
  const last = (body.messages as readonly { role?: unknown }[]).at(-1);
  if (String(body.model).startsWith('anthropic/') && last?.role === 'assistant') return behind(noPrefill);
  return undefined;
}

/** What the maker's newer models answer to a conversation whose last word is the model's own. */
const noPrefill = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'This model does not support assistant message prefill. The conversation must end with a user message.',
  },
};

/** OpenRouter's answer where the host behind it refuses: what that one answered is text in `metadata.raw`. */
const behind = (answer: object): DoubleAnswer =>
  jsonAnswer(
    400,
    openRouterError(400, 'Provider returned error', { raw: JSON.stringify(answer), provider_name: 'Anthropic' }),
  );

function complete(body: Record<string, unknown>, models: readonly ModelFile[], { idPrefix }: Dialect): Completion {
  const prompt = JSON.stringify(body.messages);
  const seed = digest(`${body.model} ${prompt}`);
  const count = Number(body.n ?? 1);
  const choices = Array.from({ length: count }, (_, index) =>
    choiceOf(body, index, index === 0 ? seed : digest(`${seed} ${index}`)),
  );
  const written = choices.map(({ text, toolCall }) => tokensOf(toolCall ? JSON.stringify(toolCall.function) : text));
  return {
    id: idPrefix + seed,
    created: Math.floor(Date.now() / 1000),
    model: String(body.model),
    choices,
    usage: usageOf(
      tokensOf(prompt),
      written.reduce((sum, tokens) => sum + tokens, 0),
      models.find(({ id }) => id === body.model),
    ),
  };
}

function choiceOf(body: Record<string, unknown>, index: number, seed: string): Choice {
  const toolCall = toolCallFor(body, seed);
  const full = toolCall ? '' : untilStop(textFor(body, seed), body.stop);
  const most = Number(body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY);
  const isCut = tokensOf(full) > most;
  return {
    index,
    text: isCut ? full.slice(0, most * 4) : full,
    toolCall,
    finishReason: toolCall ? 'tool_calls' : isCut ? 'length' : 'stop',
    likely: body.logprobs === true ? Number(body.top_logprobs ?? 0) : undefined,
  };
}

/** The text before the first of the sequences that end it: one, or a list. */
function untilStop(text: string, stop: unknown): string {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter(
    (sequence): sequence is string => typeof sequence === 'string' && sequence !== '',
  );
  const ends = sequences.map((sequence) => text.indexOf(sequence)).filter((end) => end >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}

/** What is written at once. */
const wordsOf = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? [];

/** A word counts as a token, and all are equally likely; null where nobody asked. */
function logprobsOf(words: readonly string[], likely: number | undefined) {
  if (likely === undefined) return null;
  const rated = (token: string, rank: number) => ({ token, logprob: -0.1 - rank, bytes: [...Buffer.from(token)] });
  const content = words.map((word) => ({
    ...rated(word, 0),
    top_logprobs: Array.from({ length: likely }, (_, rank) =>
      rated(rank === 0 ? word : `${word.trim()}${rank} `, rank),
    ),
  }));
  return { content, refusal: null };
}

/** The function that `tool_choice` names, else the first; none once its result is in the conversation. */
function toolCallFor(body: Record<string, unknown>, seed: string): ToolCall | undefined {
  const tools = (body.tools ?? []) as readonly { function: { name: string; parameters?: unknown } }[];
  const messages = body.messages as readonly { role?: unknown }[];
  if (body.tool_choice === 'none' || messages.at(-1)?.role === 'tool') return undefined;
  const wanted = (body.tool_choice as { function?: { name?: unknown } } | undefined)?.function?.name;
  const tool = tools.find(({ function: { name } }) => wanted === undefined || name === wanted);
  if (!tool) return undefined;
  const { name, parameters = { type: 'object' } } = tool.function;
  const id = `call_${seed.slice(0, 24)}`;
  return { id, type: 'function', function: { name, arguments: JSON.stringify(instanceOf(parameters, seed)) } };
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** With the cost in dollars, as OpenRouter adds it, where the model's price is known. */
function usageOf(promptTokens: number, completionTokens: number, model: ModelFile | undefined) {
  const { input, output } = model?.cost ?? {};
  const [inputCost, outputCost] = [promptTokens * Number(input), completionTokens * Number(output)];
  const cost = (inputCost + outputCost) / 1_000_000;
  const cost_details = {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: inputCost / 1_000_000,
    upstream_inference_completions_cost: outputCost / 1_000_000,
  };
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    ...(Number.isFinite(cost) && { cost, is_byok: false, cost_details }),
  };
}

function textFor(body: Record<string, unknown>, seed: string): string {
  const format = (body.response_format ?? {}) as { type?: unknown; json_schema?: { schema?: unknown } };
  if (format.type === 'json_schema') return JSON.stringify(instanceOf(format.json_schema?.schema, seed));
  const messages = body.messages as readonly { role?: unknown; content?: unknown }[];
  if (format.type === 'json_object') return JSON.stringify(instanceOf(schemaInText(messages), seed));
  const random = seeded(seed);
  const asked = textOf(messages.findLast(({ role }) => role === 'user')?.content)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const spoken = Array.from({ length: random.integer(2, 4) }, () => random.pick(sentences));
  return `You asked: “${asked.slice(0, 120)}” ${spoken.join(' ')}`;
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join(' ')
      : '';

/** A schema that the instructions spell out, for models without structured output. */
function schemaInText(messages: readonly { content?: unknown }[]): unknown {
  for (const { content } of messages) {
    const start = textOf(content).indexOf('{');
    if (start < 0) continue;
    try {
      return JSON.parse(textOf(content).slice(start));
    } catch {
      // Braces of another kind: look on.
    }
  }
  return { type: 'object' };
}

function whole({ id, created, model, choices, usage }: Completion, { extra, choiceExtra }: Dialect) {
  const answered = choices.map(({ index, text, toolCall, finishReason, likely }) => {
    const content = toolCall ? { content: null, tool_calls: [toolCall] } : { content: text };
    const message = { role: 'assistant', ...content, refusal: null };
    const logprobs = logprobsOf(wordsOf(text), likely);
    return { index, message, finish_reason: finishReason, ...choiceExtra(finishReason), logprobs };
  });
  return { id, ...extra, object: 'chat.completion', created, model, choices: answered, usage };
}

/** Server-sent events, a word a chunk. With `include_usage` every chunk has `usage`, which only the last one fills. */
function streamed(
  { id, created, model, choices, usage }: Completion,
  body: Record<string, unknown>,
  { extra, choiceExtra, opening }: Dialect,
): DoubleAnswer {
  const includesUsage = (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true;
  const chunk = (pieces: unknown[], use: unknown = null): string => {
    const value = {
      id,
      ...extra,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: pieces,
      ...(includesUsage && { usage: use }),
    };
    return `data: ${JSON.stringify(value)}\n\n`;
  };
  function* eventsOf({ index, text, toolCall, finishReason, likely }: Choice): Generator<string> {
    const piece = (delta: object, more: object = { finish_reason: null }) => chunk([{ index, delta, ...more }]);
    yield piece({ role: 'assistant', content: '' });
    for (const content of wordsOf(text)) {
      yield piece({ content }, { logprobs: logprobsOf([content], likely), finish_reason: null });
    }
    if (toolCall) {
      yield piece({ tool_calls: [{ index: 0, ...toolCall, function: { ...toolCall.function, arguments: '' } }] });
      for (const part of toolCall.function.arguments.match(/.{1,8}/gs) ?? []) {
        yield piece({ tool_calls: [{ index: 0, function: { arguments: part } }] });
      }
    }
    yield piece({}, { finish_reason: finishReason, ...choiceExtra(finishReason) });
  }
  async function* events(): AsyncGenerator<string> {
    if (opening !== '') yield opening;
    for (const choice of choices) yield* eventsOf(choice);
    if (includesUsage) yield chunk([], usage);
    yield 'data: [DONE]\n\n';
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: events() };
}
