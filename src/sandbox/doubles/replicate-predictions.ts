/**
 * Replicate's predictions: created, worked on for a moment, polled. Files are made when they are fetched.
 * Read on 2026-11-22 in the types of `replicate` 1.4.0 (index.d.ts) and, for what models take and make, at
 * replicate.com/<owner>/<name>/versions/<id>/api: nano-banana, nano-banana-2, nano-banana-pro, flux-2-pro, flux-2-max,
 * krea-2-medium-turbo, seedream-4.5, grok-imagine-image, seedance-2.0, elevenlabs/music. Ratios and formats of
 * gpt-image-2, and seconds of the seedance models, are as other hosts of these models publish them; qwen-image-2 and
 * grok-imagine-video-1.5, and errors other than that of too many requests, were not to be had.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Upstream } from '../../catalogue/types.ts';
import { digest } from '../../examples/seed.ts';
import { filePath, makeFile, ratioOf } from '../files/index.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasBearerKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';

interface Prediction {
  id: string;
  model: string;
  input: Record<string, unknown>;
  createdAt: number;
  /** Address of its file, or why it failed. */
  outcome: { output: string | string[] } | { error: string };
  cancelled: boolean;
}

const STARTING_MS = 10;
const WORKING_MS = 40;
const MOST_KEPT = 1000;

/** Models that answer a list of addresses even for one file. */
const LISTS = /seedream|gpt-image|grok-imagine-image|krea/;

/** Formats of models that make no PNG unless they are asked to. */
const FORMATS: readonly (readonly [RegExp, 'jpg' | 'webp'])[] = [
  [/nano-banana|seedream/, 'jpg'],
  [/flux-2|gpt-image/, 'webp'],
];

/** Least and most seconds of a video. */
const SECONDS: readonly (readonly [RegExp, number, number])[] = [
  [/seedance-1-pro/, 2, 12],
  [/seedance-2\.0/, 4, 15],
  [/seedance-2\.5/, 4, 30],
  [/grok-imagine-video/, 1, 15],
];
const LONGEST_PROMPT_OF_SEEDREAM = 4000;

/** Pixels by ratio. */
const SIZES_OF_GPT_IMAGE: Readonly<Record<string, { width: number; height: number }>> = {
  '1:1': { width: 1024, height: 1024 },
  '3:2': { width: 1536, height: 1024 },
  '2:3': { width: 1024, height: 1536 },
};

export const replicatePredictionsDouble: DoubleKind = { adapter: 'replicate-predictions', open };

function open(upstream: Upstream): Double {
  const predictions = new Map<string, Prediction>();
  let created = 0;

  function create(request: DoubleRequest, error?: string): Prediction | DoubleAnswer {
    const body = jsonBody(request);
    const version = typeof body.version === 'string' ? body.version : undefined;
    const model =
      /^\/models\/([^/]+\/[^/]+)\/predictions$/.exec(request.path)?.[1] ?? modelOfVersion(upstream, version);
    if (model === undefined) return jsonAnswer(422, unknownVersion);
    const input = (body.input ?? {}) as Record<string, unknown>;
    const fault = faultOf(model, input);
    if (fault !== undefined)
      return jsonAnswer(422, { title: 'Input validation failed', detail: `- input: ${fault}\n`, status: 422 });
    created += 1;
    const outcome = error === undefined ? { output: outputOf(upstream, model, input, request.base) } : { error };
    const id = digest(`${created} ${model} ${JSON.stringify(input)}`);
    const prediction = { id, model, input, createdAt: Date.now(), outcome, cancelled: false };
    predictions.set(id, prediction);
    const oldest = predictions.keys().next().value;
    if (predictions.size > MOST_KEPT && oldest !== undefined) predictions.delete(oldest);
    return prediction;
  }

  return {
    unauthorized(request) {
      if (request.path.startsWith('/files/') || hasBearerKey(request)) return undefined;
      const detail = 'You did not pass a valid authentication token';
      return jsonAnswer(401, { title: 'Unauthenticated', detail, status: 401 });
    },
    isBilled: ({ method, path }) => method === 'POST' && path.endsWith('/predictions'),
    async answer(request) {
      const { method, path, base } = request;
      const file = await makeFile(path);
      if (file) return { status: 200, headers: { 'content-type': file.type }, body: file.bytes };
      if (method === 'POST' && path.endsWith('/predictions')) {
        const prediction = create(request, unreadIn(jsonBody(request).input));
        if ('status' in prediction) return prediction;
        await sleep(Math.min(WORKING_MS, waitOf(request) * 1000));
        return jsonAnswer(201, shown(prediction, base));
      }
      const [, id = '', action] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
      const prediction = predictions.get(id);
      if (prediction === undefined)
        return jsonAnswer(404, { title: 'Not found', detail: 'The prediction was not found', status: 404 });
      if (method === 'POST' && action === '/cancel') prediction.cancelled = statusOf(prediction) !== 'succeeded';
      return jsonAnswer(200, shown(prediction, base));
    },
    errorBody: (status) =>
      status === 429
        ? { detail: 'Request was throttled. Your rate limit resets in ~30s.' }
        : { title: 'Internal server error', detail: 'An internal error occurred', status },
    refuse(request) {
      const prediction = create(request, 'NSFW content detected. Try running it again, or try a different prompt.');
      return 'status' in prediction
        ? prediction
        : jsonAnswer(201, shown({ ...prediction, createdAt: 0 }, request.base));
    },
  };
}

/**
 * Why a job fails at once that is to read a file named `missing`, or undefined. Its beginning is as github
 * pollinations/pollinations (#10801) recorded it of seedance-2.0.
 */
const unreadIn = (input: unknown): string | undefined =>
  /https:[^"]*\/missing\.(?:png|jpg|webp)/.test(JSON.stringify(input ?? {}))
    ? 'Input validation error: the file could not be downloaded'
    : undefined;

/** Seconds that `Prefer: wait` asks for; bare it means a minute. */
function waitOf(request: DoubleRequest): number {
  const match = /\bwait(?:=(\d+))?/.exec(String(request.headers.prefer ?? ''));
  if (match === null) return 0;
  return match[1] === undefined ? 60 : Number(match[1]);
}

/** Of anybody's models, the sandbox has those that the upstream lists. */
function modelOfVersion(upstream: Upstream, version: string | undefined): string | undefined {
  const ids = Object.values(upstream.models ?? {}).map(({ id }) => id);
  return ids.find((id) => version !== undefined && id.endsWith(`:${version}`));
}

/** As consumers show it. */
const unknownVersion = {
  title: 'Invalid version or not permitted',
  detail: "The specified version does not exist (or perhaps you don't have permission to use it?)",
  status: 422,
};

/** What the provider's own validation would say, or undefined. */
function faultOf(model: string, input: Record<string, unknown>): string | undefined {
  if (typeof input.prompt !== 'string' || input.prompt === '') return 'prompt is required';
  const length = input.music_length_ms;
  if (model === 'elevenlabs/music' && typeof length === 'number' && (length < 5000 || length > 300_000)) {
    return 'music_length_ms must be between 5000 and 300000';
  }
  if (/seedream/.test(model) && input.prompt.length > LONGEST_PROMPT_OF_SEEDREAM) {
    return `prompt must be at most ${LONGEST_PROMPT_OF_SEEDREAM} characters`;
  }
  const [, least = 1, most = 30] = SECONDS.find(([models]) => models.test(model)) ?? [];
  if (input.duration !== undefined && !(Number(input.duration) >= least && Number(input.duration) <= most)) {
    return `duration must be between ${least} and ${most}`;
  }
  return model.startsWith('black-forest-labs/flux-2-') ? fluxFault(input) : undefined;
}

const fluxSizes: readonly unknown[] = ['match_input_image', '0.5 MP', '1 MP', '2 MP', '4 MP'];
const fluxIntegers = { seed: Infinity, output_quality: 100, safety_tolerance: 5, width: 2048, height: 2048 } as const;

function fluxFault(input: Record<string, unknown>): string | undefined {
  if (input.resolution !== undefined && !fluxSizes.includes(input.resolution)) {
    return `resolution must be one of the following: ${fluxSizes.join(', ')}`;
  }
  for (const [field, most] of Object.entries(fluxIntegers)) {
    const value = input[field];
    if (value === undefined) continue;
    if (!Number.isInteger(value)) return `${field} must be an integer`;
    if (Number(value) > most) return `${field} must be less than or equal to ${most}`;
  }
  return undefined;
}

function statusOf({ createdAt, outcome, cancelled }: Prediction): string {
  const age = Date.now() - createdAt;
  if (cancelled) return 'canceled';
  if (age < STARTING_MS) return 'starting';
  if (age < WORKING_MS) return 'processing';
  return 'output' in outcome ? 'succeeded' : 'failed';
}

function shown(prediction: Prediction, base: string) {
  const { id, model, input, outcome, createdAt } = prediction;
  const status = statusOf(prediction);
  const get = `${base}/predictions/${id}`;
  const isOver = status === 'succeeded' || status === 'failed';
  return {
    id,
    model,
    version: digest(model, 64),
    input,
    status,
    output: status === 'succeeded' && 'output' in outcome ? outcome.output : null,
    error: status === 'failed' && 'error' in outcome ? outcome.error : null,
    logs: '',
    source: 'api',
    data_removed: false,
    metrics: isOver ? { predict_time: (WORKING_MS - STARTING_MS) / 1000, total_time: WORKING_MS / 1000 } : {},
    created_at: new Date(createdAt).toISOString(),
    ...(status !== 'starting' && { started_at: new Date(createdAt + STARTING_MS).toISOString() }),
    ...(isOver && { completed_at: new Date(createdAt + WORKING_MS).toISOString() }),
    urls: { get, cancel: `${get}/cancel`, web: `https://replicate.com/p/${id}` },
  };
}

function outputOf(upstream: Upstream, model: string, input: Record<string, unknown>, base: string): string | string[] {
  const address = base + filePath(planOf(kindOf(upstream, model), model, input));
  return LISTS.test(model) ? [address] : address;
}

function kindOf(upstream: Upstream, model: string): unknown {
  const bound = Object.values(upstream.models ?? {}).find(({ id }) => id === model || id.startsWith(`${model}:`));
  return (
    bound?.kind ?? (/music|audio/.test(model) ? 'audio' : /video|seedance|veo|kling/.test(model) ? 'video' : 'image')
  );
}

/** Samples a second of the formats that have no compression. */
const WAV_RATES: Readonly<Record<string, number>> = {
  wav_16khz: 16_000,
  wav_22khz: 22_050,
  wav_24khz: 24_000,
  wav_cd_quality: 44_100,
};

function planOf(kind: unknown, model: string, input: Record<string, unknown>): Parameters<typeof filePath>[0] {
  const seed = digest(`${model} ${JSON.stringify(input)}`);
  const ratio = ratioOf(input.aspect_ratio);
  if (kind === 'video') return { kind: 'clip', seconds: Number(input.duration ?? 5), ratio };
  if (kind === 'audio') {
    const wavRate = WAV_RATES[String(input.output_format)];
    const seconds = Number(input.music_length_ms ?? 10_000) / 1000;
    return { kind: 'sound', seed, seconds, format: wavRate ? 'wav' : 'mp3', sampleRate: wavRate ?? 22_050 };
  }
  const { width, height } =
    (/gpt-image/.test(model) ? SIZES_OF_GPT_IMAGE[String(input.aspect_ratio ?? '1:1')] : undefined) ??
    sizeOf(input, ratio);
  return { kind: 'picture', seed, width, height, label: String(input.prompt), format: formatOf(model, input) };
}

function formatOf(model: string, { output_format: asked }: Record<string, unknown>): 'png' | 'jpg' | 'webp' {
  if (asked === 'webp' || asked === 'jpg' || asked === 'png') return asked;
  return FORMATS.find(([models]) => models.test(model))?.[1] ?? 'png';
}

/** The long side is what `resolution` says: `2K`, `1 MP`; an own size comes with `aspect_ratio: custom`. */
function sizeOf(input: Record<string, unknown>, ratio: number): { width: number; height: number } {
  if (input.aspect_ratio === 'custom')
    return { width: Number(input.width ?? 1024), height: Number(input.height ?? 1024) };
  const [, number, unit] = /^([\d.]+) ?(k|mp)$/i.exec(String(input.resolution ?? input.size ?? '1K')) ?? [];
  const long = unit?.toLowerCase() === 'mp' ? Math.sqrt(Number(number)) * 1024 : Number(number ?? 1) * 1024;
  return {
    width: Math.round(ratio >= 1 ? long : long * ratio),
    height: Math.round(ratio >= 1 ? long / ratio : long),
  };
}
