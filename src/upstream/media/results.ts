/** Results of generation, the same whichever provider made the file. */
import type { Input, JsonSchema } from '../../catalogue/types.ts';
import { type InputMapping, inputMappingSchema, mapInput } from '../input-mapping.ts';
import { imageSize, mediaDuration } from './facts.ts';
import type { MediaStore, StoredMedia } from './store.ts';
import { thumbnailOf } from './thumbnail.ts';

/** Options that every endpoint with a generated file has, whatever its adapter. */
export type MediaResultOptions = {
  /** Further metadata keys -> the request field they repeat. */
  readonly metadata?: InputMapping;
  /** The metadata key for the provider's own address of an image. */
  readonly providerUrlKey?: string;
};

export const mediaResultOptions = {
  metadata: { ...inputMappingSchema, description: 'Further metadata key: the request field it repeats' },
  providerUrlKey: {
    type: 'string',
    minLength: 1,
    description: "Metadata key for the provider's own address of the file",
    examples: ['provider_url'],
  },
} as const satisfies Record<string, JsonSchema>;

/** A stored file and how it came about. */
export interface Produced {
  file: StoredMedia;
  /** Neutral name. */
  model: string;
  /** Undefined where the provider gives none. */
  requestId: string | undefined;
  /** What the caller sent. */
  input: Input;
  /** What the provider was sent. */
  sent: Readonly<Record<string, unknown>>;
  providerUrl: string | undefined;
  options: MediaResultOptions;
}

const referenceFields = ['referenceImage', 'reference_images', 'input_images', 'image_url'];
const repeatedFields = [
  'resolution',
  'aspect_ratio',
  'output_format',
  'quality',
  'generate_audio',
  'force_instrumental',
];

/** The caller's images that the provider was given: some models take one alone. */
function references({ input, sent }: Pick<Produced, 'input' | 'sent'>): string[] {
  const given = new Set(Object.values(sent).flat());
  const asked: readonly unknown[] = referenceFields.flatMap((field) => input[field] ?? []);
  return asked.filter((url) => typeof url === 'string' && given.has(url)) as string[];
}

function metadataOf({ input, sent, options, ...produced }: Produced): Record<string, unknown> {
  const elsewhere = new Set(['prompt', 'text', ...referenceFields]);
  const repeated = repeatedFields.map((field) => [field, input[field] ?? sent[field]] as const);
  return {
    model: produced.model,
    ...(produced.requestId !== undefined && { request_id: produced.requestId }),
    parameters: Object.fromEntries(Object.entries(input).filter(([field]) => !elsewhere.has(field))),
    ...Object.fromEntries(repeated.filter(([, value]) => value !== undefined)),
    ...mapInput(options.metadata ?? {}, input),
    ...(options.providerUrlKey && produced.providerUrl && { [options.providerUrlKey]: produced.providerUrl }),
  };
}

/** What a result of each sort always has. */
export const mediaAnswers = {
  image: ['image_url', 'image_description', 'metadata'],
  video: ['video_url', 'duration', 'model', 'metadata'],
  music: ['music_url', 'duration_seconds', 'metadata'],
  speech: ['audio_url', 'metadata'],
  transcript: ['text', 'metadata'],
} as const;

export interface ImageResult {
  image_url: string;
  /** The prompt that was used. */
  image_description: string;
  metadata: Record<string, unknown>;
}

export function imageResult(produced: Produced): ImageResult {
  const { prompt } = produced.sent;
  return {
    image_url: produced.file.url,
    image_description: typeof prompt === 'string' ? prompt : '',
    metadata: {
      ...metadataOf(produced),
      ...imageSize(produced.file.bytes),
      reference_images: references(produced),
    },
  };
}

interface VideoResult {
  video_url: string;
  /** Left out where there is neither a decoder nor an input image. */
  thumbnail_url?: string;
  /** Seconds. */
  duration: number;
  model: string;
  metadata: Record<string, unknown>;
}

/** Encoders round to whole frames: a file this near the requested length, in seconds, has it. */
const FRAME_TOLERANCE = 0.5;

/** `requested` is the length that was asked for, in seconds; what the file says counts where the two differ. */
export async function videoResult(
  produced: Produced,
  requested: number | undefined,
  context: { media: MediaStore; signal: AbortSignal },
): Promise<VideoResult> {
  const measured = mediaDuration(produced.file.bytes);
  const isAsRequested = requested !== undefined && Math.abs((measured ?? requested) - requested) <= FRAME_TOLERANCE;
  const inputImage = references(produced)[0];
  const thumbnail = await thumbnailOf(produced.file, { inputImage, ...context });
  return {
    video_url: produced.file.url,
    ...(thumbnail !== null && { thumbnail_url: thumbnail }),
    duration: isAsRequested ? requested : seconds(measured ?? 0),
    model: produced.model,
    metadata: {
      ...metadataOf(produced),
      reference_images: references(produced),
      duration_source: measured === undefined ? 'request' : 'file',
    },
  };
}

interface MusicResult {
  music_url: string;
  duration_seconds: number;
  metadata: Record<string, unknown>;
}

/** `requested`, in seconds, stands in where the file does not say how long it plays. */
export function musicResult(produced: Produced, requested: number | undefined): MusicResult {
  const measured = mediaDuration(produced.file.bytes);
  return {
    music_url: produced.file.url,
    duration_seconds: seconds(measured ?? requested ?? 0),
    metadata: {
      ...metadataOf(produced),
      format: produced.file.type,
      duration_source: measured === undefined ? 'request' : 'file',
    },
  };
}

export interface SpeechResult {
  audio_url: string;
  duration_seconds?: number;
  metadata: Record<string, unknown>;
}

/** `given` is the length in seconds by the provider, which counts where the file does not say its own. */
export function speechResult(produced: Produced, given: number | undefined): SpeechResult {
  const duration = mediaDuration(produced.file.bytes) ?? given;
  return {
    audio_url: produced.file.url,
    ...(duration !== undefined && { duration_seconds: seconds(duration) }),
    metadata: { ...metadataOf(produced), format: produced.file.type },
  };
}

/** Seconds to the hundredth. */
const seconds = (exact: number): number => Math.round(exact * 100) / 100;
