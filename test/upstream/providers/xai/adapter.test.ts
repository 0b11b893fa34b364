import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseBuffer } from 'music-metadata';
import t from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import type { SpeechResult } from '../../../../src/upstream/media/results.ts';
import { xaiMedia } from '../../../../src/upstream/providers/xai/adapter.ts';
import { PUBLIC_URL } from '../../call-context.ts';
import { adapterContract, openSetting, problemOf } from '../contract.ts';

const adapter: Adapter = xaiMedia;
const upstream = {
  keys: { key: 'XAI_API_KEY' },
  models: { painter: { id: 'grok-imagine-image' }, filmer: { id: 'grok-imagine-video-1.5' }, speaker: { id: 'tts' } },
};
const image = {
  adapter,
  upstream,
  model: 'painter',
  options: { result: 'image', input: { prompt: 'prompt', aspect_ratio: 'aspect_ratio', image: 'referenceImage' } },
};
const video = {
  adapter,
  upstream,
  model: 'filmer',
  options: {
    result: 'video',
    input: {
      prompt: 'prompt',
      image: 'image_url',
      resolution: 'resolution',
      aspect_ratio: { from: 'aspect_ratio', values: { auto: null } },
    },
    fixed: { duration: 10 },
  },
};
const speech = {
  adapter,
  upstream,
  model: 'speaker',
  options: { result: 'speech', input: { text: 'text', voice_id: 'voice_id', output_format: 'output_format' } },
};
const start = 'https://example.com/start.png';
const stored = (extension: string) => ({ type: 'string', pattern: `^${PUBLIC_URL}/[0-9a-f]{32}\\.${extension}$` });

adapterContract(t, 'an image', {
  ...image,
  input: { prompt: 'a lighthouse in fog', aspect_ratio: '16:9' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['image_url', 'image_description', 'metadata'],
    properties: {
      image_url: stored('jpg'),
      metadata: {
        required: ['request_id'],
        properties: { model: { const: 'painter' }, width: { const: 1024 }, height: { const: 576 } },
      },
    },
  },
});

adapterContract(t, 'a video', {
  ...video,
  input: { prompt: 'the fog lifts', image_url: start, resolution: '720p', aspect_ratio: 'auto' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['video_url', 'thumbnail_url', 'duration', 'model', 'metadata'],
    properties: {
      video_url: stored('mp4'),
      duration: { const: 10 },
      model: { const: 'filmer' },
      metadata: { properties: { resolution: { const: '720p' }, reference_images: { const: [start] } } },
    },
  },
});

adapterContract(t, 'speech', {
  ...speech,
  input: { text: 'The last ferry leaves at a quarter past nine.', voice_id: 'ara' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['audio_url', 'duration_seconds', 'metadata'],
    properties: {
      audio_url: stored('mp3'),
      duration_seconds: { type: 'number', minimum: 2.9, maximum: 3.2 },
      metadata: {
        properties: { codec: { const: 'mp3' }, characters: { const: 45 }, model: { const: 'speaker' } },
      },
    },
  },
});

t.test('edits the reference image where there is one', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const plain = (await adapter.call({ prompt: 'a boat' }, binding, context)) as { image_url: string };
  const edited = (await adapter.call({ prompt: 'a boat', referenceImage: start }, binding, context)) as {
    image_url: string;
    metadata: object;
  };
  t.match(edited.metadata, { reference_images: [start] });
  t.not(edited.image_url, plain.image_url);
});

t.test('reports what the provider charged', async (t) => {
  const { binding, context } = await openSetting(t, image);
  await adapter.call({ prompt: 'a boat' }, binding, context);
  t.same(context.costs, ['0.020000000000']);
});

for (const [format, told, file] of [
  [undefined, { codec: 'mp3' }, { sampleRate: 24_000, bitrate: 128_000 }],
  ['wav', { codec: 'wav' }, { sampleRate: 24_000 }],
  ['mp3_44100_64', { codec: 'mp3', sample_rate: 44_100, bit_rate: 64_000 }, { sampleRate: 44_100, bitrate: 64_000 }],
  ['mp3_16000_32000', { sample_rate: 16_000, bit_rate: 32_000 }, { sampleRate: 16_000, bitrate: 32_000 }],
  [{ sample_rate: 8000 }, { codec: 'mp3', sample_rate: 8000 }, { sampleRate: 8000 }],
  [{ codec: 'wav', sample_rate: 48_000 }, { codec: 'wav', sample_rate: 48_000 }, { sampleRate: 48_000 }],
  [{ codec: 'wav', bit_rate: 64_000 }, { codec: 'wav', bit_rate: undefined }, { bitrate: 384_000 }],
] as const) {
  t.test(`makes the sound file that ${JSON.stringify(format) ?? 'nothing'} asks for`, async (t) => {
    const { binding, context } = await openSetting(t, speech);
    const input = { text: 'Mind the step.', ...(format && { output_format: format }) };
    const { audio_url, duration_seconds, metadata } = (await adapter.call(input, binding, context)) as SpeechResult;
    t.match(metadata, told);
    const bytes = readFileSync(join(context.mediaDirectory, basename(audio_url)));
    const parsed = (await parseBuffer(bytes, { mimeType: String(metadata.format) }, { duration: true })).format;
    t.match({ sampleRate: parsed.sampleRate, bitrate: parsed.bitrate }, file);
    t.ok(Math.abs((parsed.duration ?? 0) - (duration_seconds ?? 0)) < 0.1, `${parsed.duration} ${duration_seconds}`);
  });
}

t.test('tells a caller whose values the provider does not take, without its words', async (t) => {
  const { binding, context } = await openSetting(t, video);
  const input = { prompt: 'the fog lifts', image_url: start, aspect_ratio: '21:9' };
  const problem = await problemOf(adapter.call(input, binding, context));
  t.equal(problem.failure, 'invalid-input');
  t.notMatch(String(problem.publicMessage), /21:9/);
});

t.test('a model that the provider does not have is no fault of the caller', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const unknown = { ...binding, model: { name: 'painter', id: 'grok-imagine-image-of-old' } };
  const problem = await problemOf(adapter.call({ prompt: 'a boat' }, unknown, context));
  t.equal(problem.failure, 'failed');
  t.equal(problem.publicMessage, undefined);
});
