/**
 * Replicate's HTTP API: a prediction is created, worked on and polled.
 * Source: `replicate` 1.4.0 (index.d.ts, lib/predictions.js) and replicate.com/docs/topics/predictions.
 */
import { asJsonObject } from '../../../json.ts';
import type { CallContext, ModelBinding } from '../../adapter.ts';
import type { Job } from '../../bought.ts';
import { pause } from '../../http/retry.ts';
import { cutProviderText, UpstreamProblem } from '../../problem.ts';

export const DEFAULT_WAIT_SECONDS = 25;
const FIRST_POLL_MS = 250;
const SLOWEST_POLL_MS = 3_000;
const CANCEL_TIMEOUT_MS = 5_000;
/** How failed predictions say that it was the content: models word it in their own way. */
const CONTENT_REFUSAL =
  /nsfw|flagged as sensitive|safety (?:system|filter|polic)|content (?:polic|moderation)|prohibited content|\bE005\b/i;
/** How they begin to say that it was what they were given, such as a file that is not there. */
const INPUT_AT_FAULT = /^input validation error/i;

export interface Prediction {
  id: string;
  /**
   * Addresses of the files it made, which Replicate deletes within the hour; or data URLs, in which it has answered who
   * waits for the result: github replicate/replicate-python (#377, #382).
   */
  outputs: string[];
}

/**
 * Runs the binding's model on the provider's own input, or waits for the job that was begun. Cancels it when it gives up, and
 * not where it is cut off. Throws UpstreamProblem.
 */
export async function predict(
  binding: Pick<ModelBinding, 'upstream' | 'model' | 'settings' | 'http'>,
  input: Readonly<Record<string, unknown>>,
  { signal }: Pick<CallContext, 'signal'>,
  job: Job,
): Promise<Prediction> {
  const { http, upstream } = binding;
  let state = (job.begun as State | undefined) ?? (await create(binding, input, signal));
  try {
    if (!job.begun && !endings.has(state.status)) await job.note(state);
    for (let delay = FIRST_POLL_MS; !endings.has(state.status); delay = Math.min(delay * 1.5, SLOWEST_POLL_MS)) {
      await pause(delay, signal);
      const polled = await http.request({ method: 'GET', path: state.get, signal, asksOfJob: true });
      state = readState(upstream, polled.json());
    }
  } catch (error) {
    if (!job.isCutOff()) {
      await job.note(undefined).catch(() => undefined);
      const cancelled = http.request({
        method: 'POST',
        path: state.cancel,
        signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS),
      });
      // The caller has its failure already; an uncancelled prediction costs us, not the caller.
      cancelled.catch(() => undefined);
    }
    if (!signal.aborted) throw error;
    throw new UpstreamProblem('timeout', upstream, 'the prediction was not done at the deadline', {
      providerMessage: `prediction ${state.id} was ${state.status}`,
    });
  }
  if (state.status === 'succeeded') return { id: state.id, outputs: readOutputs(upstream, state) };
  const message = 'the prediction did not succeed';
  const providerMessage = `prediction ${state.id} ${state.status}: ${state.error}`;
  if (INPUT_AT_FAULT.test(state.error)) {
    const publicMessage = 'The provider does not take these values, or cannot read a file at an address among them';
    throw new UpstreamProblem('invalid-input', upstream, 'refused the input', { publicMessage, providerMessage });
  }
  const publicMessage = 'The provider refused to work on this content';
  throw CONTENT_REFUSAL.test(state.error)
    ? new UpstreamProblem('content-refused', upstream, message, { publicMessage, providerMessage })
    : new UpstreamProblem('failed', upstream, message, { providerMessage });
}

async function create(
  { http, upstream, model, settings }: Pick<ModelBinding, 'upstream' | 'model' | 'settings' | 'http'>,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<State> {
  // `owner/name` is an official model, `owner/name:version` anybody's.
  const version = model.id.split(':')[1];
  const wait = settings.waitSeconds ?? DEFAULT_WAIT_SECONDS;
  const created = await http.request({
    method: 'POST',
    path: version === undefined ? `/models/${model.id}/predictions` : '/predictions',
    headers: { prefer: `wait=${wait}` },
    json: { ...(version !== undefined && { version }), input },
    signal,
    accept: [400, 422],
  });
  if (created.status >= 400) throw refusal(upstream, created.status, created.body.toString('utf8'));
  return readState(upstream, created.json());
}

const endings: ReadonlySet<string> = new Set(['succeeded', 'failed', 'canceled', 'aborted']);

interface State {
  id: string;
  status: string;
  output: unknown;
  error: string;
  get: string;
  cancel: string;
}

function readState(upstream: string, answer: unknown): State {
  const { id, status, output, error, urls } = asJsonObject(answer);
  if (typeof id !== 'string' || typeof status !== 'string') {
    throw new UpstreamProblem('malformed', upstream, 'answered no prediction: id or status is missing');
  }
  const { get, cancel } = asJsonObject(urls);
  const path = `/predictions/${encodeURIComponent(id)}`;
  return {
    id,
    status,
    output,
    error: cutProviderText(error),
    get: typeof get === 'string' ? get : path,
    cancel: typeof cancel === 'string' ? cancel : `${path}/cancel`,
  };
}

/** Some models give one address, some a list. */
function readOutputs(upstream: string, { id, output }: State): string[] {
  const outputs = Array.isArray(output) ? output : [output];
  if (outputs.length > 0 && outputs.every((address) => typeof address === 'string')) return outputs;
  throw new UpstreamProblem('malformed', upstream, 'the prediction succeeded without a file', {
    providerMessage: `prediction ${id}`,
  });
}

/** The title of a refusal where the model's version is at fault, which no caller chose. */
const VERSION_REFUSED = /"title"\s*:\s*"invalid version/i;

function refusal(upstream: string, status: number, providerMessage: string): UpstreamProblem {
  if (VERSION_REFUSED.test(cutProviderText(providerMessage)))
    return new UpstreamProblem('failed', upstream, 'refused the version of the model', { status, providerMessage });
  const publicMessage = 'The provider does not take this combination of values';
  return new UpstreamProblem('invalid-input', upstream, 'refused the input', {
    status,
    publicMessage,
    providerMessage,
  });
}
