/** Images, videos and music from models on Replicate. */
import type { Input, Model } from '../../../catalogue/types.ts';
import { type Adapter, type Binding, type CallContext, modelOf } from '../../adapter.ts';
import { type InputMapping, inputMappingSchema, mapInput } from '../../input-mapping.ts';
import { trimAudio } from '../../media/facts.ts';
import { trimVideo } from '../../media/ffmpeg.ts';
import {
  imageResult,
  type MediaResultOptions,
  mediaResultOptions,
  musicResult,
  type Produced,
  videoResult,
} from '../../media/results.ts';
import type { MediaKind, StoredMedia } from '../../media/store.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type Prediction, predict } from './client.ts';

export type PredictionOptions = MediaResultOptions & {
  readonly result: 'image' | 'video' | 'music';
  readonly input: InputMapping;
  /** Sent with every request, over what the mapping gives. */
  readonly fixed?: { readonly [providerField: string]: unknown };
};

/** What a model's entry in `upstreams.yaml` may say of it. */
interface PredictionModel extends Model {
  readonly kind?: MediaKind;
  /** Least numbers that the provider takes: smaller requests are raised to them. */
  readonly minimums?: { readonly [providerField: string]: number };
  /** Sent where the request leaves the field out. */
  readonly defaults?: { readonly [providerField: string]: unknown };
}

export const replicatePredictions: Adapter<PredictionOptions> = {
  name: 'replicate-predictions',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result', 'input'],
    properties: {
      result: { enum: ['image', 'video', 'music'] },
      input: inputMappingSchema,
      fixed: { type: 'object', description: 'Provider field: the value that every request sends' },
      ...mediaResultOptions,
    },
  },
  modelOptions: {
    type: 'object',
    properties: {
      kind: { enum: ['image', 'video', 'audio'], description: 'What the model makes' },
      minimums: {
        type: 'object',
        additionalProperties: { type: 'number' },
        description: 'Provider field: least value',
      },
      defaults: { type: 'object', description: 'Provider field: value where the request has none' },
    },
  },
  upstreamOptions: {
    type: 'object',
    properties: {
      waitSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: 60,
        description: 'How long creating may wait for the result',
      },
    },
  },
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const { result } = binding.options;
    const { sent, asked } = providerInput(input, binding);
    const prediction = await predict(binding, sent, context);
    const produced = (file: StoredMedia): Produced => ({
      file,
      model: modelOf(binding).name,
      requestId: prediction.id,
      input,
      sent,
      providerUrl: prediction.outputs[0],
      sandbox: binding.settings.sandbox === true,
      options: binding.options,
    });
    switch (result) {
      case 'image':
        return imageResult(produced(await keep(prediction, 'image', binding, context)), String(input.prompt));
      case 'video': {
        const file = await keep(prediction, 'video', binding, context);
        const seconds = asNumber(asked.duration);
        const isRaised = seconds !== undefined && seconds < Number(sent.duration);
        const cut = isRaised ? await trimVideo(file.bytes, seconds, context.signal) : undefined;
        return await videoResult(produced(cut ? await context.media.put(cut, 'video') : file), seconds, context);
      }
      case 'music': {
        const file = await keep(prediction, 'audio', binding, context);
        const milliseconds = asNumber(asked.music_length_ms);
        const isRaised = milliseconds !== undefined && milliseconds < Number(sent.music_length_ms);
        const cut = isRaised ? await context.media.put(trimAudio(file.bytes, milliseconds / 1000), 'audio') : file;
        return musicResult(produced(cut), milliseconds === undefined ? undefined : milliseconds / 1000);
      }
    }
  },
};

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** `asked` is what the caller wants in the provider's words, `sent` the same within what the model takes. */
function providerInput(input: Input, binding: Binding<PredictionOptions>) {
  const { minimums = {}, defaults = {} }: PredictionModel = modelOf(binding);
  // A recipe's role may leave the mapping out.
  const mapping = binding.options.input ?? { prompt: 'prompt', aspect_ratio: 'aspect_ratio' };
  const asked: Record<string, unknown> = { ...defaults, ...mapInput(mapping, input), ...binding.options.fixed };
  const sent = { ...asked };
  for (const [field, least] of Object.entries(minimums)) {
    if (typeof sent[field] === 'number') sent[field] = Math.max(sent[field], least);
  }
  return { asked, sent };
}

async function keep(
  prediction: Prediction,
  kind: MediaKind,
  binding: Binding<PredictionOptions>,
  context: CallContext,
): Promise<StoredMedia> {
  const { upstream } = binding;
  const first = prediction.outputs[0];
  if (first === undefined) throw new UpstreamProblem('malformed', upstream, `prediction ${prediction.id} made no file`);
  return await context.media.copy(first, kind, { upstream, signal: context.signal });
}

/** An image for a recipe, kept in the media store. The role's `input` maps these names to the provider's. */
export async function drawImage(
  role: Binding,
  request: { prompt: string; aspect_ratio?: string; referenceImage?: readonly string[] },
  context: CallContext,
): Promise<StoredMedia> {
  // The catalogue has held the role's options to this adapter's schema.
  const binding = role as Binding<PredictionOptions>;
  const { sent } = providerInput(request, binding);
  return await keep(await predict(binding, sent, context), 'image', binding, context);
}
