/**
 * xAI's images, videos and speech. Images and speech answer at once, a video is started and polled.
 * Source: `@ai-sdk/xai` 5.0.12 (src/xai-{image,video,speech}-model.ts, src/xai-error.ts) and docs.x.ai.
 */
import { asJsonObject, type JsonObject } from '../../../json.ts';
import type { CallContext, ModelBinding } from '../../adapter.ts';
import type { Job } from '../../bought.ts';
import { pause } from '../../http/retry.ts';
import type { UpstreamResponse } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import { reportUsage } from '../../reported-cost.ts';
import { errorProblem, isOfRequest } from '../openai/chat-errors.ts';

type XaiBinding = Pick<ModelBinding, 'upstream' | 'http' | 'model'>;
type Context = Pick<CallContext, 'signal' | 'reportCost'>;

/** A file that xAI made: its bytes in base64, or where it keeps them for a while. */
export interface XaiFile {
  content: { base64: string } | { url: string };
  requestId: string | undefined;
}

const FIRST_POLL_MS = 250;
const SLOWEST_POLL_MS = 5_000;

/** One image. `image` and `images` are references: with one the image is an edit of it. Throws UpstreamProblem. */
export async function imagine(
  binding: XaiBinding,
  { image, ...input }: JsonObject,
  context: Context,
): Promise<XaiFile> {
  const path = image === undefined && input.images === undefined ? '/images/generations' : '/images/edits';
  const response = await post(
    binding,
    path,
    {
      model: binding.model.id,
      n: 1,
      response_format: 'b64_json',
      ...input,
      ...(image !== undefined && { image: { url: image, type: 'image_url' } }),
      ...(Array.isArray(input.images) && { images: input.images.map((url) => ({ url, type: 'image_url' })) }),
    },
    context,
  );
  const { data, usage } = asJsonObject(response.json());
  const {
    b64_json: base64,
    url,
    respect_moderation: isAllowed,
  } = asJsonObject(Array.isArray(data) ? data[0] : undefined);
  reportUsage(usage, context);
  if (isAllowed === false) throw contentRefused(binding.upstream, 'the image did not pass moderation');
  const requestId = requestIdOf(response);
  if (typeof base64 === 'string') return { content: { base64 }, requestId };
  if (typeof url === 'string') return { content: { url }, requestId };
  throw new UpstreamProblem('malformed', binding.upstream, 'answered no image: b64_json and url are missing');
}

/** One video, or the one that was begun. `image` is its first frame, `reference_images` a list of addresses. Throws UpstreamProblem. */
export async function film(binding: XaiBinding, input: JsonObject, context: Context, job: Job): Promise<XaiFile> {
  const { http, upstream } = binding;
  const { signal } = context;
  const id = (job.begun as string | undefined) ?? (await beginFilm(binding, input, context, job));
  for (let delay = FIRST_POLL_MS; ; delay = Math.min(delay * 1.5, SLOWEST_POLL_MS)) {
    await pause(delay, signal).catch(() => {
      throw new UpstreamProblem('timeout', upstream, 'the video was not done at the deadline', {
        providerMessage: `video ${id}`,
      });
    });
    const path = `/videos/${encodeURIComponent(id)}`;
    const polled = await http.request({ method: 'GET', path, signal, asksOfJob: true });
    // While it works xAI answers 202, with or without a body.
    const url = polled.status === 202 ? undefined : finishedVideo(upstream, id, asJsonObject(polled.json()), context);
    if (url !== undefined) return { content: { url }, requestId: id };
  }
}

/** The name of the video that is being made. */
async function beginFilm(binding: XaiBinding, input: JsonObject, context: Context, job: Job): Promise<string> {
  const { image, reference_images: references } = input;
  const started = await post(
    binding,
    '/videos/generations',
    {
      model: binding.model.id,
      ...input,
      ...(image !== undefined && { image: { url: image } }),
      ...(Array.isArray(references) && { reference_images: references.map((url) => ({ url })) }),
    },
    context,
  );
  const { request_id: id } = asJsonObject(started.json());
  if (typeof id !== 'string') {
    throw new UpstreamProblem('malformed', binding.upstream, 'started no video: request_id is missing');
  }
  await job.note(id);
  return id;
}

/** Where the video is, or undefined while it is being made. */
function finishedVideo(upstream: string, id: string, state: JsonObject, context: Context): string | undefined {
  const { status, video, error, usage } = state;
  if (status === 'pending') return undefined;
  // One that does not pass moderation was made all the same, and is billed (docs.x.ai/developers/cost-tracking).
  reportUsage(usage, context);
  const { url, respect_moderation: isAllowed } = asJsonObject(video);
  if (isAllowed === false) throw contentRefused(upstream, 'the video did not pass moderation');
  switch (status) {
    case 'done':
    case undefined:
      if (typeof url === 'string') return url;
      throw new UpstreamProblem('malformed', upstream, 'the video is done without an address', {
        providerMessage: `video ${id}`,
      });
    case 'failed':
      throw errorProblem(upstream, 200, { error });
    default:
      throw new UpstreamProblem('failed', upstream, 'the video ended otherwise than done', {
        providerMessage: `video ${id} ended as ${String(status)}`,
      });
  }
}

/** Speech, and how many seconds it lasts where xAI says so. Throws UpstreamProblem. */
export async function speak(
  binding: Omit<XaiBinding, 'model'>,
  input: JsonObject,
  context: Context,
): Promise<XaiFile & { duration: number | undefined }> {
  const response = await post(binding, '/tts', { language: 'auto', ...input, with_timestamps: true }, context);
  const { audio, duration } = asJsonObject(response.json());
  if (typeof audio !== 'string' || audio === '') {
    throw new UpstreamProblem('malformed', binding.upstream, 'answered no speech: audio is missing');
  }
  return {
    content: { base64: audio },
    requestId: requestIdOf(response),
    duration: typeof duration === 'number' ? duration : undefined,
  };
}

async function post(
  { http, upstream }: Omit<XaiBinding, 'model'>,
  path: string,
  json: JsonObject,
  { signal }: Context,
): Promise<UpstreamResponse> {
  const response = await http.request({ method: 'POST', path, json, signal, accept: [400, 403, 413, 422] });
  if (response.status < 400) return response;
  const answer = response.json();
  const problem = errorProblem(upstream, response.status, answer);
  if (problem.failure !== 'failed' || !isOfRequest(response.status, answer)) throw problem;
  const publicMessage = 'The provider does not take this combination of values, or cannot read an image';
  const { message, providerMessage } = problem;
  throw new UpstreamProblem('invalid-input', upstream, message, {
    status: response.status,
    publicMessage,
    providerMessage,
  });
}

/** Every answer of xAI has one of these. */
const requestIdOf = ({ headers }: UpstreamResponse): string | undefined =>
  headers['x-request-id'] ?? headers['x-trace-id'];

function contentRefused(upstream: string, message: string): UpstreamProblem {
  return new UpstreamProblem('content-refused', upstream, message, {
    publicMessage: 'The provider refused to work on this content',
  });
}
