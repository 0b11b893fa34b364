/**
 * How hosts of chat completions say that a call failed. Source: `openai` 6.49.0; `metadata` is OpenRouter's
 * (openrouter.ai/docs/api/reference/errors-and-debugging, `@openrouter/sdk` 1.3.19): `error_type`, `reasons` of a
 * moderation, `raw` with what the host behind it answered. What a guardrail blocks there, it says as if permissions were
 * lacking (developersdigest.tech/errors/api/openrouter/403-permission-denied). What xAI will not read it refuses with a 403
 * or a 400, as github UKGovernmentBEIS/inspect_ai (#2267) and theopenco/llmgateway (#1785) recorded it.
 */
import { asJsonObject, isJsonObject } from '../../../json.ts';
import { cutProviderText, UpstreamProblem } from '../../problem.ts';

/** Statuses whose body says what is wrong with the request: `errorProblem` reads it. */
export const chatErrorStatuses: readonly number[] = [400, 403, 413, 422];

/** Those by which a host finds fault with what its caller sent. */
const faultStatuses: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Parameters that the gateway chooses: a host that does not take one is bound wrongly. */
const ownParameters: ReadonlySet<unknown> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
]);

const MODERATED =
  /content_(?:policy|filter)|moderation|content management policy|safety system|violates usage guidelines|request blocked: /i;
const TOO_LONG =
  /context_length|token_limit_exceeded|string_too_long|context (?:length|window)|maximum context|prompt is too long|too many tokens/i;
const BAD_IMAGE =
  /invalid_image|image_(?:url|too_|not_found|download_failed)|unsupported_image|unable to process (?:input )?image/i;
const BINDING_AT_FAULT =
  /model_not_found|model not found|not a valid model|invalid[_ ]model(?:[:.]|$)|model [^ ]{1,100} (?:does not exist|is not available|was not found)|api.?key|billing|quota|credits/i;

/** xAI and Gemini's compatible API answer a wrong key with a 400. */
const KEY_AT_FAULT = /incorrect api key|api key not valid/i;

const ADDRESS = /\bhttps?:\/\/\S+/gi;

/** What a host says of a failure. */
interface Refusal {
  readonly status: number;
  /** Code, types and message, as the host has them. */
  readonly providerMessage: string;
  /** The same without addresses: those are the caller's, and have whatever words it likes. */
  readonly words: string;
  /** The sentence alone. */
  readonly reason: string;
  readonly isModerated: boolean;
  /** The parameter at fault, where it names one. */
  readonly param: unknown;
}

/**
 * Errors are `{error: {message, code, type, param}}`, an array of such, `{error: string}`, the inner object alone, which
 * Mistral and vLLM before 0.10 say (github solbrowse/extension #16), or anything else.
 */
function refusalOf(status: number, answer: unknown): Refusal {
  const whole = asJsonObject(Array.isArray(answer) ? answer[0] : answer);
  const error = typeof whole.error === 'string' ? { message: whole.error } : (whole.error ?? whole);
  const { message, code, type, param, metadata } = asJsonObject(error);
  const { reasons, raw, error_type: errorType } = asJsonObject(metadata);
  const behind = errorBehind(raw);
  const reason = cutProviderText(textOf(behind.message ?? message));
  const said = [code, type, errorType, message, behind.message].filter((part) => part !== undefined && part !== null);
  const providerMessage = cutProviderText(said.map(textOf).join(': '));
  // With a 200, the status is in the error's code.
  const told = status < 400 && typeof code === 'number' ? code : status;
  return {
    status: told,
    providerMessage,
    words: providerMessage.replace(ADDRESS, ''),
    reason,
    isModerated: Array.isArray(reasons) || errorType === 'refusal',
    param: behind.param ?? param,
  };
}

/** Mistral's message is an object where it lists what is wrong (github editor-code-assistant/eca #231). */
const textOf = (said: unknown): unknown => (isJsonObject(said) || Array.isArray(said) ? JSON.stringify(said) : said);

/** What the host behind the host answered: a text, often JSON with an error of the same form. */
function errorBehind(raw: unknown): { message?: unknown; param?: unknown } {
  let value = raw;
  try {
    if (typeof raw === 'string') value = JSON.parse(raw);
  } catch {
    return { message: raw };
  }
  const answer = asJsonObject(Array.isArray(value) ? value[0] : value);
  return isJsonObject(answer.error) ? answer.error : { message: answer.message ?? answer.error };
}

/** The failure that an error is, whatever is said of it: `content-refused`, `invalid-input`, `unavailable` or `failed`. */
export function errorProblem(upstream: string, status: number, answer: unknown): UpstreamProblem {
  const refusal = refusalOf(status, answer);
  const { providerMessage, words, isModerated } = refusal;
  const problem = `answered ${status}`;
  if (isModerated || MODERATED.test(words)) return contentRefused(upstream, problem, providerMessage);
  const unreadable = TOO_LONG.test(words)
    ? 'The prompt is longer than the model can read'
    : BAD_IMAGE.test(words)
      ? 'The model cannot read the image at the given address'
      : undefined;
  if (unreadable !== undefined) {
    return new UpstreamProblem('invalid-input', upstream, problem, {
      status,
      publicMessage: unreadable,
      providerMessage,
    });
  }
  const isRefused = status === 403 || KEY_AT_FAULT.test(words);
  return new UpstreamProblem(isRefused ? 'unavailable' : 'failed', upstream, problem, { status, providerMessage });
}

/** Whether a host may find fault with the request itself: neither with how it is bound nor with what the gateway chose. */
export function isOfRequest(status: number, answer: unknown): boolean {
  const { status: told, words, param } = refusalOf(status, answer);
  return faultStatuses.has(told) && !ownParameters.has(param) && !BINDING_AT_FAULT.test(words);
}

/**
 * The same for a request in the caller's own words: what the host finds wrong with it is the caller's to mend, so the
 * caller reads the host's reason. `shown` makes it fit to be read: without keys and without the host's names.
 */
export function callerProblem(
  upstream: string,
  status: number,
  answer: unknown,
  shown: (reason: string) => string,
): UpstreamProblem {
  const problem = errorProblem(upstream, status, answer);
  if (problem.failure !== 'failed' || !isOfRequest(status, answer)) return problem;
  const { providerMessage, reason } = refusalOf(status, answer);
  const said = reason === '' ? '' : `: ${shown(reason)}`;
  return new UpstreamProblem('invalid-input', upstream, problem.message, {
    status,
    publicMessage: `The model does not take this request${said}`,
    providerMessage,
  });
}

/** The provider will not work on this content. */
export function contentRefused(upstream: string, message: string, providerMessage: string): UpstreamProblem {
  return new UpstreamProblem('content-refused', upstream, message, {
    providerMessage: providerMessage,
    publicMessage: 'The model refused to answer this prompt',
  });
}
