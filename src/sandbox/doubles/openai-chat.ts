/**
 * OpenAI chat completions, plain and streamed, with structured output. Text is made from the prompt.
 * Shapes as in `openai` 6.49.0 and openai-openapi 2.3.0; refusals behind OpenRouter as its consumers show them.
 */
import type { ModelFile, Upstream } from '../../catalogue/types.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasBearerKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';
import { instanceOf } from './schema-instance.ts';
import { digest, seeded } from './seed.ts';

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

function open(upstream: Upstream): Double {
  const models = Object.values(upstream.models ?? {});

  return {
    unauthorized(request) {
      if (hasBearerKey(request)) return undefined;
      return jsonAnswer(401, errorBody('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'));
    },
    isBilled: ({ method, path }) => method === 'POST' && path === '/chat/completions',
    answer(request) {
      if (request.method === 'GET' && request.path === '/models') {
        return jsonAnswer(200, { object: 'list', data: models.map(({ id }) => ({ id, object: 'model' })) });
      }
      if (request.method !== 'POST' || request.path !== '/chat/completions') {
        return jsonAnswer(
          404,
          errorBody(`Unknown request URL: ${request.method} ${request.path}.`, 'invalid_request_error', null),
        );
      }
      const body = jsonBody(request);
      const fault = faultOf(body, models);
      if (fault) return fault;
      const completion = complete(body, models);
      return body.stream === true ? streamed(completion, body) : jsonAnswer(200, whole(completion));
    },
    errorBody: (status) =>
      status === 429
        ? errorBody('Rate limit reached for requests', 'requests', 'rate_limit_exceeded')
        : errorBody('The server had an error while processing your request', 'server_error', null),
    refuse(request: DoubleRequest) {
      const completion = complete(jsonBody(request), models);
      const [first] = completion.choices;
      const choices = first
        ? [{ ...first, text: '', toolCall: undefined, finishReason: 'content_filter' as const }]
        : [];
      return jsonAnswer(200, whole({ ...completion, choices }));
    },
  };
}

const errorBody = (message: string, type: string, code: string | null) => ({
  error: { message, type, param: null, code },
});

function faultOf(body: Record<string, unknown>, models: readonly ModelFile[]): DoubleAnswer | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    return jsonAnswer(
      400,
      errorBody("Missing required parameter: 'messages'.", 'invalid_request_error', 'missing_required_parameter'),
    );
  }
  if (models.length > 0 && !models.some(({ id }) => id === body.model)) {
    return jsonAnswer(
      404,
      errorBody(`The model '${body.model}' does not exist`, 'invalid_request_error', 'model_not_found'),
    );
  }
  if (body.temperature !== undefined && !(Number(body.temperature) >= 0 && Number(body.temperature) <= 2)) {
    return jsonAnswer(
      400,
      errorBody("Invalid 'temperature': expected 0 to 2.", 'invalid_request_error', 'decimal_above_max_value'),
    );
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
  jsonAnswer(400, {
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: JSON.stringify(answer), provider_name: 'Anthropic' },
    },
    user_id: 'user_2sandbox',
  });

function complete(body: Record<string, unknown>, models: readonly ModelFile[]): Completion {
  const prompt = JSON.stringify(body.messages);
  const seed = digest(`${body.model} ${prompt}`);
  const count = Number(body.n ?? 1);
  const choices = Array.from({ length: count }, (_, index) =>
    choiceOf(body, index, index === 0 ? seed : digest(`${seed} ${index}`)),
  );
  const written = choices.map(({ text, toolCall }) => tokensOf(toolCall ? JSON.stringify(toolCall.function) : text));
  return {
    id: `chatcmpl-${seed}`,
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
  const cost = (promptTokens * Number(input) + completionTokens * Number(output)) / 1_000_000;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    ...(Number.isFinite(cost) && { cost }),
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

function whole({ id, created, model, choices, usage }: Completion) {
  const answered = choices.map(({ index, text, toolCall, finishReason, likely }) => {
    const content = toolCall ? { content: null, tool_calls: [toolCall] } : { content: text };
    const message = { role: 'assistant', ...content, refusal: null };
    return { index, message, finish_reason: finishReason, logprobs: logprobsOf(wordsOf(text), likely) };
  });
  return { id, object: 'chat.completion', created, model, choices: answered, usage };
}

/** Server-sent events, a word a chunk. With `include_usage` every chunk has `usage`, which only the last one fills. */
function streamed({ id, created, model, choices, usage }: Completion, body: Record<string, unknown>): DoubleAnswer {
  const includesUsage = (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true;
  const chunk = (pieces: unknown[], use: unknown = null): string => {
    const value = {
      id,
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
    yield piece({}, { finish_reason: finishReason });
  }
  async function* events(): AsyncGenerator<string> {
    for (const choice of choices) yield* eventsOf(choice);
    if (includesUsage) yield chunk([], usage);
    yield 'data: [DONE]\n\n';
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: events() };
}
