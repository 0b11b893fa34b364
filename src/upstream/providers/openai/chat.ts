/**
 * OpenAI chat completions, as OpenAI, OpenRouter, xAI, Gemini's compatible API and many hosts speak it.
 * Source: `openai` 6.49.0 and openai-openapi 2.3.0; OpenRouter's additions from `@openrouter/sdk` 1.3.19.
 */
import type { Model } from '../../../catalogue/types.ts';
import { asJsonObject, type JsonObject } from '../../../json.ts';
import type { CallContext, ModelBinding } from '../../adapter.ts';
import type { UpstreamResponse } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import { reportUsage } from '../../reported-cost.ts';
import { requestCompletion } from './chat-client.ts';
import { contentRefused } from './chat-errors.ts';

/** What a model's entry in `upstreams.yaml` may say of it. */
export interface ChatModel extends Model {
  /** Default: `max_tokens`. */
  readonly tokenParam?: 'max_tokens' | 'max_completion_tokens';
  /** Output tokens beyond that bound, where the host keeps it for what is shown. Default: 0. */
  readonly beyondBound?: number;
  /** How reasoning effort is named: `reasoning_effort` (the default) or OpenRouter's `reasoning: {effort}`. */
  readonly reasoningParam?: 'reasoning_effort' | 'reasoning';
  /** Each is true unless it is false here. */
  readonly supportsTemperature?: boolean;
  readonly supportsJsonSchema?: boolean;
  readonly supportsImageUrl?: boolean;
}

/** What it takes to ask a chat model. */
export type ChatBinding = Pick<ModelBinding, 'upstream' | 'http' | 'model'>;

export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly [field: string]: unknown;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens?: number;
  /** 0 to 2; left out for models that do not take it. */
  readonly temperature?: number;
  readonly reasoningEffort?: string;
  /** `response_format` as the protocol has it. */
  readonly responseFormat?: unknown;
  /** Whose request it is: what the host finds wrong with a caller's, the caller reads. Default: the gateway's. */
  readonly words?: 'caller' | 'gateway';
  /** Fields that only this host knows. */
  readonly further?: Readonly<Record<string, unknown>>;
}

export interface ChatAnswer {
  /** The provider's own id of the completion. */
  id: string;
  text: string;
  /** `stop`, `length`, ... as the provider says. */
  finishReason: string;
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  reasoningTokens: number | undefined;
  /** With the exact bytes that were sent and received. */
  response: UpstreamResponse;
}

/** A message's content with a picture beside the text. */
export const withImages = (text: string, urls: readonly string[]): unknown =>
  urls.length === 0
    ? text
    : [{ type: 'text', text }, ...urls.map((url) => ({ type: 'image_url', image_url: { url } }))];

/** One completion. Throws UpstreamProblem: refusals are `content-refused`, a prompt beyond the context `invalid-input`. */
export async function chat(
  binding: ChatBinding,
  request: ChatRequest,
  context: Pick<CallContext, 'signal' | 'reportCost' | 'reportOutput' | 'reportUse'>,
): Promise<ChatAnswer> {
  const { answer, response } = await requestCompletion(binding, requestBody(binding.model, request), {
    signal: context.signal,
    words: request.words ?? 'gateway',
  });
  return readAnswer(binding, answer, response, context);
}

/** The parameters that models name differently, or do not take at all, as this model has them. */
export function modelParameters(
  model: ChatModel,
  { maxTokens, temperature, reasoningEffort }: Pick<ChatRequest, 'maxTokens' | 'temperature' | 'reasoningEffort'>,
): Record<string, unknown> {
  return {
    model: model.id,
    ...(maxTokens !== undefined && { [model.tokenParam ?? 'max_tokens']: maxTokens }),
    ...(temperature !== undefined && model.supportsTemperature !== false && { temperature }),
    ...(reasoningEffort !== undefined &&
      (model.reasoningParam === 'reasoning'
        ? { reasoning: { effort: reasoningEffort } }
        : { reasoning_effort: reasoningEffort })),
  };
}

const requestBody = (model: ChatModel, request: ChatRequest): Record<string, unknown> => ({
  ...modelParameters(model, request),
  messages: request.messages,
  ...(request.responseFormat !== undefined && { response_format: request.responseFormat }),
  ...request.further,
});

function readAnswer(
  { upstream, model }: ChatBinding,
  answer: JsonObject,
  response: UpstreamResponse,
  context: Pick<CallContext, 'reportCost' | 'reportOutput' | 'reportUse'>,
): ChatAnswer {
  const { id, choices, usage } = answer;
  const choice = asJsonObject(Array.isArray(choices) ? choices[0] : undefined);
  const message = asJsonObject(choice.message);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens } = asJsonObject(usage);
  if (choice.message === undefined || typeof promptTokens !== 'number' || typeof completionTokens !== 'number') {
    throw new UpstreamProblem('malformed', upstream, 'answered no completion: a message or its usage is missing');
  }
  reportUsage(usage, context);
  context.reportOutput?.({ promptTokens, completionTokens });
  context.reportUse?.(model.name, { promptTokens, completionTokens });
  const text = textOf(message.content);
  if (choice.finish_reason === 'content_filter' || (typeof message.refusal === 'string' && text === '')) {
    throw contentRefused(upstream, 'refused', String(message.refusal ?? choice.finish_reason));
  }
  if (text === '' && completionTokens === 0) throw new UpstreamProblem('malformed', upstream, 'answered nothing');
  const reasoningTokens = asJsonObject(asJsonObject(usage).completion_tokens_details).reasoning_tokens;
  return {
    id: typeof id === 'string' ? id : '',
    text,
    finishReason: typeof choice.finish_reason === 'string' ? choice.finish_reason : 'stop',
    promptTokens,
    completionTokens,
    totalTokens: typeof total_tokens === 'number' ? total_tokens : promptTokens + completionTokens,
    reasoningTokens: typeof reasoningTokens === 'number' ? reasoningTokens : undefined,
    response,
  };
}

/** Content is a string, null beside a tool call, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => asJsonObject(part).text)
    .filter((text) => typeof text === 'string')
    .join('');
}
