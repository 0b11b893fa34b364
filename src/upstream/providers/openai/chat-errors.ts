/** How hosts of chat completions say that a call failed. Source: `openai` 6.49.0; `metadata.reasons` is OpenRouter's. */
import { asJsonObject } from '../../../json.ts';
import { UpstreamProblem } from '../../problem.ts';

/** Statuses whose body says what is wrong with the request: `errorProblem` reads it. */
export const chatErrorStatuses: readonly number[] = [400, 403, 413, 422];

/** Errors are `{error: {message, code, type}}`, an array of such, `{error: string}`, or anything else. */
export function errorProblem(upstream: string, status: number, answer: unknown): UpstreamProblem {
  const { error } = asJsonObject(Array.isArray(answer) ? answer[0] : answer);
  const { message, code, type, metadata } = typeof error === 'string' ? { message: error } : asJsonObject(error);
  const providerMessage = [code, type, message].filter((part) => part !== undefined && part !== null).join(': ');
  const problem = `answered ${status}`;
  const isModerated = Array.isArray(asJsonObject(metadata).reasons);
  if (
    isModerated ||
    /content_(?:policy|filter)|moderation|content management policy|safety system/i.test(providerMessage)
  ) {
    return contentRefused(upstream, problem, providerMessage);
  }
  if (
    /context_length|context (?:length|window)|maximum context|prompt is too long|too many tokens/i.test(providerMessage)
  ) {
    const publicMessage = 'The prompt is longer than the model can read';
    return new UpstreamProblem('invalid-input', upstream, problem, {
      status,
      publicMessage,
      providerMessage: providerMessage,
    });
  }
  if (/invalid_image|image_url|unable to process (?:input )?image/i.test(providerMessage)) {
    const publicMessage = 'The model cannot read the image at the given address';
    return new UpstreamProblem('invalid-input', upstream, problem, {
      status,
      publicMessage,
      providerMessage: providerMessage,
    });
  }
  return new UpstreamProblem(status === 403 ? 'unavailable' : 'failed', upstream, problem, {
    status,
    providerMessage: providerMessage,
  });
}

/** The provider will not work on this content. */
export function contentRefused(upstream: string, message: string, providerMessage: string): UpstreamProblem {
  return new UpstreamProblem('content-refused', upstream, message, {
    providerMessage: providerMessage,
    publicMessage: 'The model refused to answer this prompt',
  });
}
