/** Images, videos and speech from xAI. */
import type { CallContext, ModelAdapter } from '../../adapter.ts';
import { type InputMapping, inputMappingSchema, mapInput } from '../../input-mapping.ts';
import {
  imageResult,
  type MediaResultOptions,
  mediaAnswers,
  mediaResultOptions,
  type Produced,
  speechResult,
  videoResult,
} from '../../media/results.ts';
import { readSpeechFormat } from '../../media/speech-format.ts';
import type { StoredMedia } from '../../media/store.ts';
import type { MediaKind } from '../../media/type.ts';
import { film, imagine, speak, type XaiFile } from './client.ts';

type XaiMediaOptions = MediaResultOptions & {
  readonly result: 'image' | 'video' | 'speech';
  readonly input: InputMapping;
  /** Sent with every request, over what the mapping gives. */
  readonly fixed?: { readonly [providerField: string]: unknown };
};

export const xaiMedia: ModelAdapter<XaiMediaOptions> = {
  name: 'xai-media',
  model: 'named',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result', 'input'],
    properties: {
      result: { enum: ['image', 'video', 'speech'], description: 'What a call makes' },
      input: {
        ...inputMappingSchema,
        description:
          'Provider field: the request field it comes from. image and reference_images take addresses, output_format ' +
          'of speech a name such as mp3_24000_128000 or an object',
      },
      fixed: { type: 'object', description: 'Provider field: the value that every request sends' },
      ...mediaResultOptions,
    },
  },
  reads: () => ({ fields: {} }),
  answers: ({ result }) => mediaAnswers[result as XaiMediaOptions['result']],
  sends: (result) => (result === 'speech' ? ['text'] : ['prompt']),
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const { options, upstream } = binding;
    const sent: Record<string, unknown> = { ...mapInput(options.input, input), ...options.fixed };
    const { once } = context;
    const order = [binding.http.baseUrl, binding.model.id, options.result, sent];
    const produced = async (made: XaiFile, kind: MediaKind): Promise<Produced> => ({
      file: await keep(made, kind, upstream, context),
      model: binding.model.name,
      requestId: made.requestId,
      input,
      sent,
      providerUrl: 'url' in made.content ? made.content.url : undefined,
      options,
    });
    switch (options.result) {
      case 'image':
        return imageResult(await produced(await once(order, () => imagine(binding, sent, context)), 'image'));
      case 'video': {
        const requested = typeof sent.duration === 'number' ? sent.duration : undefined;
        const video = await once(order, (job) => film(binding, sent, context, job));
        return await videoResult(await produced(video, 'video'), requested, context);
      }
      case 'speech': {
        const format = readSpeechFormat(sent.output_format);
        const spoken = await once(order, () => speak(binding, { ...sent, output_format: format }, context));
        const { metadata, ...result } = speechResult(await produced(spoken, 'audio'), spoken.duration);
        return { ...result, metadata: { ...metadata, ...format, characters: String(sent.text).length } };
      }
    }
  },
};

async function keep(
  { content }: XaiFile,
  kind: MediaKind,
  upstream: string,
  { media, signal }: CallContext,
): Promise<StoredMedia> {
  return 'url' in content
    ? await media.copy(content.url, kind, { upstream, signal })
    : await media.put(Buffer.from(content.base64, 'base64'), kind);
}
