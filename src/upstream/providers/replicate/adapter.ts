/** Images, videos and music from models on Replicate. */
import type { ModelAdapter } from '../../adapter.ts';
import { inputMappingSchema } from '../../input-mapping.ts';
import { trimAudio } from '../../media/facts.ts';
import { trimVideo } from '../../media/ffmpeg.ts';
import {
  imageResult,
  mediaAnswers,
  mediaResultOptions,
  musicResult,
  type Produced,
  videoResult,
} from '../../media/results.ts';
import type { StoredMedia } from '../../media/store.ts';
import { DEFAULT_WAIT_SECONDS } from './client.ts';
import { drawn, keep, type PredictionOptions, predictOnce, providerInput } from './run.ts';

export const replicatePredictions: ModelAdapter<PredictionOptions, 'replicate-predictions'> = {
  name: 'replicate-predictions',
  model: 'named',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result', 'input'],
    properties: {
      result: { enum: ['image', 'video', 'music'], description: 'What a call makes' },
      input: inputMappingSchema,
      fixed: { type: 'object', description: 'Provider field: the value that every request sends' },
      ...mediaResultOptions,
    },
  },
  reads: () => ({ fields: {} }),
  answers: ({ result }) => mediaAnswers[result as PredictionOptions['result']],
  sends: (_result, { prompt }) => (prompt === false ? [] : ['prompt']),
  kinds: { image: 'image', video: 'video', music: 'audio' },
  handed: drawn,
  modelOptions: {
    type: 'object',
    properties: {
      kind: { enum: ['image', 'video', 'audio'], description: 'What the model makes' },
      prompt: { const: false, description: 'Written where the model takes no prompt' },
      minimums: {
        type: 'object',
        'x-provider-fields': true,
        additionalProperties: { type: 'number' },
        description: 'Provider field: least value',
      },
      defaults: {
        type: 'object',
        description: 'Provider field: value where the request has none',
        examples: [{ seed: 1 }],
      },
    },
  },
  upstreamOptions: {
    type: 'object',
    properties: {
      waitSeconds: {
        type: 'integer',
        minimum: 1,
        maximum: 60,
        default: DEFAULT_WAIT_SECONDS,
        description: 'How long creating may wait for the result, in seconds',
      },
    },
  },
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const { result } = binding.options;
    const { sent, asked } = providerInput(input, binding);
    const prediction = await predictOnce(binding, sent, context);
    const produced = (file: StoredMedia): Produced => ({
      file,
      model: binding.model.name,
      requestId: prediction.id,
      input,
      sent,
      // What came within the answer has no other address than ours.
      providerUrl: prediction.outputs[0]?.startsWith('data:') ? file.url : prediction.outputs[0],
      options: binding.options,
    });
    switch (result) {
      case 'image':
        return imageResult(produced(await keep(prediction, 'image', binding, context)));
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
