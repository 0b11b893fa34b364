/** A chat completions request as API keys send it. Source: openai-openapi 2.3.0, `CreateChatCompletionRequest`. */
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import type { Money } from '../../money.ts';
import { chatTokens, IMAGE_TOKENS } from '../../pricing/estimate.ts';
import { inputBound, outputBound, tokenCost } from '../../pricing/tokens.ts';
import type { NamedCall } from '../../store/credits/credit-store.ts';
import { type ChatModel, modelParameters } from '../../upstream/providers/openai/chat.ts';
import { readFunctions, readMessages, readTools } from './messages.ts';
import { beyondBoundOf, type SoldModel } from './models.ts';
import { ApiKeyProblem } from './problems.ts';

export interface ChatCall {
  readonly model: SoldModel;
  readonly isStream: boolean;
  /** The caller asked for a last chunk with the usage. */
  readonly wantsUsage: boolean;
  /** Input tokens, estimated. */
  readonly promptTokens: number;
  /** Output tokens that the upstream is bound to, for each choice. */
  readonly maxTokens: number;
  /** The most that the call costs: what is held. */
  readonly bound: Money;
  /** The same with one token of output: no lower max_tokens comes below it. */
  readonly leastBound: Money;
  readonly temperature: number | undefined;
  readonly reasoningEffort: string | undefined;
  /** What goes upstream: messages and tools made anew from their known fields, the rest as it came. */
  readonly parameters: JsonObject;
  /** Where its caller has named it. */
  readonly named?: NamedCall | undefined;
}

/** Cost tokens and nothing else, so they are passed on. */
const PASSED_ON: ReadonlySet<string> = new Set([
  'messages',
  'top_p',
  'stop',
  'seed',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'verbosity',
]);

/** Read here. */
const OURS: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'reasoning_effort',
]);

/** Say who the caller's own users are, or how a provider keeps the call: taken, and not passed on. */
const IGNORED: ReadonlySet<string> = new Set([
  'user',
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

const MOST_CHOICES = 16;
/** As OpenAI's. Each multiplies what a provider answers, and what has to be read. */
const MOST_LIKELY_TOKENS = 20;
/** Tokens with their probability that one answer in one piece may have: about 100 bytes each. */
const MOST_PROBABILITIES = 50_000;

/**
 * What a picture counts for, by how closely it is looked at. Where that is left to the model, it may read the picture as it
 * is: GPT-5.6 takes 30,000 patches, each of 1.2 tokens. Here its provider's count is charged, and never more than was held,
 * so that what was too much is given back and what was too little is lost. Source: OpenAI's "Images and vision".
 */
const PICTURE_TOKENS: Readonly<Record<string, number>> = { low: IMAGE_TOKENS, high: 16_000 };
const LARGEST_PICTURE_TOKENS = 36_000;

/**
 * What a provider may tell a model of functions in words of its own, and counts as the caller's: up to 530 tokens are
 * documented. Held alone: the provider's count is charged.
 */
const FUNCTIONS_TOKENS = 600;

const invalid = (param: string, message: string) =>
  new ApiKeyProblem('invalid_value', `${param} ${message}`, { param });

/** Throws ApiKeyProblem, naming the parameter at fault. */
export function readCall(given: JsonObject, models: ReadonlyMap<string, SoldModel>): ChatCall {
  // Clients write null for a parameter that they leave to us.
  const named: JsonObject = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const model = modelNamed(named.model, models);
  for (const name of Object.keys(named)) checkName(name, named);
  const body: JsonObject = {
    ...named,
    messages: readMessages(named.messages),
    ...(named.tools !== undefined && { tools: readTools(named.tools) }),
    ...(named.functions !== undefined && { functions: readFunctions(named.functions) }),
  };
  checkAbilities(body, model);
  const maxTokens = outputBound(model.price, askedTokens(body, model));
  const choices = integer(body, 'n', 1, MOST_CHOICES) ?? 1;
  const isStream = boolean(body, 'stream') ?? false;
  const probabilities = maxTokens * choices * probabilitiesOfToken(body);
  if (!isStream && probabilities > MOST_PROBABILITIES) throw tooManyProbabilities(body, probabilities);
  const estimate = chatTokens(body, 0, model.price.digitsPerToken) + pictureTokens(body.messages, model);
  const promptTokens = inputBound(model.price, estimate);
  const mostPromptTokens = inputBound(model.price, estimate + functionsTokens(body));
  const boundWith = (tokens: number): Money =>
    tokenCost(model.price, {
      promptTokens: mostPromptTokens,
      completionTokens: (tokens + beyondBoundOf(model)) * choices,
    });
  return {
    model,
    isStream,
    wantsUsage: usageWanted(body.stream_options),
    promptTokens,
    maxTokens,
    bound: boundWith(maxTokens),
    leastBound: boundWith(1),
    temperature: number(body, 'temperature', 0, 2),
    reasoningEffort: text(body, 'reasoning_effort'),
    parameters: Object.fromEntries(Object.entries(body).filter(([name]) => PASSED_ON.has(name))),
  };
}

/** What a call may do that may cost `most` and no more. */
export const cheaper = ({ leastBound }: ChatCall, most: Money): string =>
  leastBound <= most ? 'lower max_tokens' : 'send less, or take a cheaper model';

/** What one upstream is asked, besides how it answers. */
export const upstreamBody = (call: ChatCall, model: ChatModel): JsonObject => ({
  ...call.parameters,
  ...modelParameters(model, {
    maxTokens: call.maxTokens,
    ...(call.temperature !== undefined && { temperature: call.temperature }),
    ...(call.reasoningEffort !== undefined && { reasoningEffort: call.reasoningEffort }),
  }),
});

function modelNamed(name: unknown, models: ReadonlyMap<string, SoldModel>): SoldModel {
  if (typeof name !== 'string') throw invalid('model', 'is missing: name one that GET /v1/models lists');
  const model = models.get(name);
  if (model) return model;
  const message = `The model ${JSON.stringify(name.slice(0, 100))} is not sold here: GET /v1/models lists those that are`;
  throw new ApiKeyProblem('model_not_found', message, { param: 'model' });
}

function checkName(name: string, body: JsonObject): void {
  if (PASSED_ON.has(name) || OURS.has(name) || IGNORED.has(name)) return;
  const value = body[name];
  // The defaults of what costs more than tokens: some clients spell them out.
  if (name === 'service_tier' && (value === 'auto' || value === 'default')) return;
  if (name === 'modalities' && Array.isArray(value) && value.every((modality) => modality === 'text')) return;
  const shown = JSON.stringify(name.slice(0, 60));
  throw new ApiKeyProblem('unsupported_parameter', `The parameter ${shown} is not supported here: leave it out`, {
    param: name.slice(0, 60),
  });
}

function checkAbilities(body: JsonObject, { name, sources }: SoldModel): void {
  const can = (ability: 'supportsJsonSchema' | 'supportsImageUrl') =>
    sources.some(({ model }) => model[ability] !== false);
  const format = isJsonObject(body.response_format) ? body.response_format.type : undefined;
  if (format === 'json_schema' && !can('supportsJsonSchema')) {
    throw invalid('response_format', `of type json_schema is not supported by ${name}: ask for json_object`);
  }
  if (picturesOf(body.messages).length > 0 && !can('supportsImageUrl'))
    throw invalid('messages', `have an image, and ${name} reads text only`);
}

const picturesOf = (messages: unknown): JsonObject[] =>
  asJsonObjects(messages).flatMap(({ content }) =>
    asJsonObjects(content).flatMap(({ type, image_url }) => (type === 'image_url' ? [asJsonObject(image_url)] : [])),
  );

const pictureTokens = (messages: unknown, { imageTokens }: SoldModel): number =>
  picturesOf(messages)
    .map(({ detail }) => imageTokens ?? PICTURE_TOKENS[String(detail)] ?? LARGEST_PICTURE_TOKENS)
    .reduce((sum, tokens) => sum + tokens, 0);

const functionsTokens = ({ tools, functions }: JsonObject): number =>
  [tools, functions].some((list) => Array.isArray(list) && list.length > 0) ? FUNCTIONS_TOKENS : 0;

/** `max_completion_tokens` is the newer name; both may be given. */
function askedTokens(body: JsonObject, { name, price }: SoldModel): number | undefined {
  const asked = ['max_completion_tokens', 'max_tokens'].map((param) => {
    const value = integer(body, param, 1, Number.MAX_SAFE_INTEGER);
    if (value === undefined || value <= price.maxOutput) return value;
    throw invalid(param, `is ${value}, and ${name} gives at most ${price.maxOutput}`);
  });
  return asked[0] ?? asked[1];
}

/** How many tokens come with their probability for each token that is written. */
function probabilitiesOfToken(body: JsonObject): number {
  const isAsked = boolean(body, 'logprobs') ?? false;
  const alternatives = integer(body, 'top_logprobs', 0, MOST_LIKELY_TOKENS) ?? 0;
  return isAsked || alternatives > 0 ? 1 + alternatives : 0;
}

/** A stream is passed on while it comes; an answer in one piece has to be kept until then. */
function tooManyProbabilities(body: JsonObject, count: number): ApiKeyProblem {
  return invalid(
    body.top_logprobs === undefined ? 'logprobs' : 'top_logprobs',
    `may come to ${count} probabilities in one answer, and ${MOST_PROBABILITIES} is the most: ask for a stream, or for fewer tokens`,
  );
}

function usageWanted(options: unknown): boolean {
  if (options === undefined) return false;
  if (!isJsonObject(options)) throw invalid('stream_options', 'is not an object');
  return options.include_usage === true;
}

function integer(body: JsonObject, param: string, least: number, most: number): number | undefined {
  const value = number(body, param, least, most);
  if (value !== undefined && !Number.isInteger(value)) throw invalid(param, 'is not a whole number');
  return value;
}

function number(body: JsonObject, param: string, least: number, most: number): number | undefined {
  const value = body[param];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `a number of ${least} or more` : `a number from ${least} to ${most}`;
  throw invalid(param, `is not ${range}`);
}

function boolean(body: JsonObject, param: string): boolean | undefined {
  const value = body[param];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid(param, 'is neither true nor false');
}

function text(body: JsonObject, param: string): string | undefined {
  const value = body[param];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(param, 'is not a string');
}
