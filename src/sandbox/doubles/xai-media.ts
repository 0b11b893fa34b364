/**
 * xAI's images, videos and speech. A video is worked on for a moment and polled; files are made when they are fetched.
 * Read on 2026-11-22 in the schemas of `@ai-sdk/xai` 3.0.99 (src/xai-video-model.ts, xai-image-model.ts, xai-error.ts).
 * Speech is not in there: it is as in the adapter's sources. Refusals of a prompt, read on 2026-11-29, as in
 * src/upstream/providers/openai/chat-errors.ts; wrong keys as in its
 * OpenAPI document (github api-evangelist/xai) and as github i-am-bee/beeai-framework (#447) recorded them.
 */
import type { Upstream } from '../../catalogue/types.ts';
import { digest } from '../../examples/seed.ts';
import { mediaDuration } from '../../upstream/media/facts.ts';
import { type FilePlan, filePath, makeFile, ratioOf } from '../files/index.ts';
import { kilobitRates } from '../files/sound.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasBearerKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';

export const xaiMediaDouble: DoubleKind = { adapter: 'xai-media', open };

interface Video {
  model: unknown;
  url: string;
  duration: number;
  createdAt: number;
  isAllowed: boolean;
}

const WORKING_MS = 40;
const MOST_KEPT = 1000;
const LONGEST_TEXT = 15_000;
const CHARACTERS_PER_SECOND = 15;
const IMAGE_TICKS = 200_000_000;
const VIDEO_TICKS_PER_SECOND = 500_000_000;

const voices: ReadonlySet<string> = new Set(['eve', 'ara', 'leo', 'rex', 'sal']);
const videoRatios: ReadonlySet<unknown> = new Set(['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3']);
const resolutions: ReadonlySet<unknown> = new Set(['480p', '720p', '1080p']);
const billed: ReadonlySet<string> = new Set(['/images/generations', '/images/edits', '/videos/generations', '/tts']);

const refuse = (status: number, message: string, code: string): DoubleAnswer =>
  jsonAnswer(status, { error: { message, type: 'invalid_request_error', param: null, code } });

/** xAI answers 401 where there is no key at all. */
const wrongKey = {
  code: 'Client specified an invalid argument',
  error: 'Incorrect API key provided: xa***gA. You can obtain an API key from https://console.x.ai.',
};

/** What is refused before it is worked on. */
const usageViolation = {
  code: 'The caller does not have permission to execute the specified operation',
  error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
};

function open(upstream: Upstream): Double {
  const ids = new Set(Object.values(upstream.models ?? {}).map(({ id }) => id));
  const videos = new Map<string, Video>();

  /** The request id, or the refusal. */
  function start(request: DoubleRequest, isAllowed: boolean): string | DoubleAnswer {
    const body = jsonBody(request);
    const fault = videoFault(body);
    if (fault !== undefined) return refuse(400, fault, 'invalid_argument');
    const duration = Number(body.duration ?? 8);
    const url =
      request.base + filePath({ kind: 'clip', seconds: duration, ratio: ratioOf(body.aspect_ratio ?? '16:9') });
    const id = digest(`${videos.size} ${Date.now()} ${JSON.stringify(body)}`);
    videos.set(id, { model: body.model, url, duration, createdAt: Date.now(), isAllowed });
    const oldest = videos.keys().next().value;
    if (videos.size > MOST_KEPT && oldest !== undefined) videos.delete(oldest);
    return id;
  }

  function poll(id: string): DoubleAnswer {
    const video = videos.get(id);
    if (video === undefined) return refuse(404, `The video ${id} does not exist`, 'not_found');
    const { model, url, duration, createdAt, isAllowed } = video;
    const age = Date.now() - createdAt;
    if (age < WORKING_MS) return jsonAnswer(202, { status: 'pending', progress: Math.floor((age / WORKING_MS) * 100) });
    return jsonAnswer(200, {
      status: 'done',
      model,
      video: { url: isAllowed ? url : '', duration, respect_moderation: isAllowed },
      usage: { cost_in_usd_ticks: duration * VIDEO_TICKS_PER_SECOND },
      progress: 100,
    });
  }

  async function answerOf(request: DoubleRequest): Promise<DoubleAnswer> {
    const { method, path } = request;
    const file = await makeFile(path);
    if (file) return { status: 200, headers: { 'content-type': file.type }, body: file.bytes };
    const body = jsonBody(request);
    const [, id] = /^\/videos\/([^/]+)$/.exec(path) ?? [];
    if (method === 'GET' && id !== undefined) return poll(id);
    if (method !== 'POST' || !billed.has(path)) return refuse(404, `No route ${method} ${path}`, 'not_found');
    if (path === '/tts') return await speak(body);
    if (ids.size > 0 && !ids.has(String(body.model))) {
      return jsonAnswer(400, { code: 'invalid-argument', error: `Model not found: ${String(body.model)}` });
    }
    if (path !== '/videos/generations') return await draw(path, body, request.base);
    const started = start(request, true);
    return typeof started === 'string' ? jsonAnswer(200, { request_id: started }) : started;
  }

  return {
    unauthorized(request) {
      if (request.path.startsWith('/files/') || hasBearerKey(request)) return undefined;
      return jsonAnswer(400, wrongKey);
    },
    isBilled: ({ method, path }) => method === 'POST' && billed.has(path),
    async answer(request) {
      const answer = await answerOf(request);
      return { ...answer, headers: { ...answer.headers, 'x-trace-id': digest(request.body.toString('latin1')) } };
    },
    errorBody: (status) =>
      status === 429
        ? { code: 'resource_exhausted', error: 'Too many requests' }
        : { code: 'internal', error: 'Internal server error' },
    refuse(request) {
      if (request.path.startsWith('/images/')) return jsonAnswer(403, usageViolation);
      if (request.path === '/tts') return refuse(400, 'Text rejected by content moderation.', 'content_moderation');
      const started = start(request, false);
      return typeof started === 'string' ? jsonAnswer(200, { request_id: started }) : started;
    },
  };
}

async function draw(path: string, body: Record<string, unknown>, base: string): Promise<DoubleAnswer> {
  if (typeof body.prompt !== 'string' || body.prompt === '')
    return refuse(400, 'prompt is required', 'invalid_argument');
  const references = [body.image, ...(Array.isArray(body.images) ? body.images : [])].filter((image) => image);
  const isEdit = path === '/images/edits';
  if (isEdit !== references.length > 0)
    return refuse(400, isEdit ? 'image is required' : 'use edits', 'invalid_argument');
  if (references.some((image) => typeof image.url !== 'string')) {
    return refuse(400, 'image.url is required', 'invalid_argument');
  }
  const ratio = ratioOf(body.aspect_ratio);
  const long = body.resolution === '2k' ? 2048 : 1024;
  const plan: FilePlan = {
    kind: 'picture',
    seed: digest(JSON.stringify(body)),
    width: Math.round(ratio >= 1 ? long : long * ratio),
    height: Math.round(ratio >= 1 ? long / ratio : long),
    label: body.prompt,
    format: 'jpg',
  };
  const isInline = body.response_format === 'b64_json';
  const file = isInline ? await makeFile(filePath(plan)) : undefined;
  const image = file ? { b64_json: file.bytes.toString('base64') } : { url: base + filePath(plan) };
  const data = [{ ...image, revised_prompt: body.prompt, respect_moderation: true }];
  return jsonAnswer(200, { data, usage: { cost_in_usd_ticks: IMAGE_TICKS } });
}

function videoFault({
  prompt,
  duration,
  resolution,
  aspect_ratio: ratio,
}: Record<string, unknown>): string | undefined {
  if (typeof prompt !== 'string' || prompt === '') return 'prompt is required';
  if (duration !== undefined && !(Number(duration) >= 1 && Number(duration) <= 15)) return 'duration must be 1 to 15';
  if (resolution !== undefined && !resolutions.has(resolution)) return 'resolution must be 480p, 720p or 1080p';
  if (ratio !== undefined && !videoRatios.has(ratio)) return `aspect_ratio ${String(ratio)} is not supported`;
  return undefined;
}

async function speak(body: Record<string, unknown>): Promise<DoubleAnswer> {
  const { text, voice_id: voice = 'eve', language, output_format: format } = body;
  if (typeof text !== 'string' || text === '') return jsonAnswer(400, { error: 'text is required' });
  if (text.length > LONGEST_TEXT)
    return jsonAnswer(400, { error: `text must have at most ${LONGEST_TEXT} characters` });
  if (!voices.has(String(voice).toLowerCase())) return jsonAnswer(400, { error: `unknown voice ${String(voice)}` });
  if (typeof language !== 'string') return jsonAnswer(400, { error: 'language is required' });
  const {
    codec = 'mp3',
    sample_rate: rate = 24_000,
    bit_rate: bitRate = 128_000,
  } = (format ?? {}) as Record<string, unknown>;
  if (codec !== 'mp3' && codec !== 'wav')
    return jsonAnswer(400, { error: `the sandbox has no codec ${String(codec)}` });
  const plan: FilePlan = {
    kind: 'sound',
    seed: digest(`${String(voice).toLowerCase()} ${text}`),
    seconds: Math.max(1, text.length / CHARACTERS_PER_SECOND),
    format: codec,
    sampleRate: Number(rate),
    kilobits: kilobitRates.find((kilobits) => kilobits * 1000 === bitRate) ?? 128,
  };
  const file = await makeFile(filePath(plan));
  if (file === undefined) return jsonAnswer(500, { error: 'no sound' });
  if (body.with_timestamps !== true) return { status: 200, headers: { 'content-type': file.type }, body: file.bytes };
  const step = plan.seconds / text.length;
  const graph_times = Array.from(text, (_, index) => [index * step, (index + 1) * step]);
  return jsonAnswer(200, {
    audio: file.bytes.toString('base64'),
    content_type: file.type,
    duration: mediaDuration(file.bytes),
    audio_timestamps: { graph_chars: Array.from(text), graph_times },
  });
}
