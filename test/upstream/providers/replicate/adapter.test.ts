import { readdirSync } from 'node:fs';
import t from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { replicatePredictions } from '../../../../src/upstream/providers/replicate/adapter.ts';
import { PUBLIC_URL } from '../../call-context.ts';
import { adapterContract, openSetting, problemOf } from '../contract.ts';

const adapter: Adapter = replicatePredictions;
const upstream = {
  keys: { key: 'REPLICATE_API_TOKEN' },
  models: {
    'family-e-2': { id: 'google/nano-banana-2', kind: 'image' },
    'family-g-4.5': { id: 'bytedance/seedream-4.5', kind: 'image' },
    'family-h-2.5': { id: 'bytedance/seedance-2.5', kind: 'video' },
    music: {
      id: 'elevenlabs/music',
      kind: 'audio',
      minimums: { music_length_ms: 5000 },
      defaults: { force_instrumental: false, music_length_ms: 120_000 },
    },
  },
};
const image = {
  adapter,
  upstream,
  model: 'family-e-2',
  options: {
    result: 'image',
    input: {
      prompt: 'prompt',
      aspect_ratio: 'aspect_ratio',
      image_input: 'referenceImage',
      resolution: { from: 'resolution', values: { '1k': '1K', '2k': '2K', '4k': '4K' } },
    },
  },
};
const music = {
  adapter,
  upstream,
  model: 'music',
  options: {
    result: 'music',
    input: { prompt: 'prompt', music_length_ms: 'music_length_ms', output_format: 'output_format' },
  },
};
const stored = (extension: string) => ({ type: 'string', pattern: `^${PUBLIC_URL}/[0-9a-f]{32}\\.${extension}$` });

adapterContract(t, 'an image', {
  ...image,
  input: { prompt: 'a lighthouse in fog', resolution: '1k', aspect_ratio: '16:9' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['image_url', 'image_description', 'metadata'],
    properties: {
      image_url: stored('jpg'),
      image_description: { const: 'a lighthouse in fog' },
      metadata: {
        type: 'object',
        required: ['model', 'request_id', 'parameters', 'resolution', 'aspect_ratio', 'reference_images'],
        properties: {
          model: { const: 'family-e-2' },
          request_id: { type: 'string', minLength: 1 },
          parameters: { const: { resolution: '1k', aspect_ratio: '16:9' } },
          resolution: { const: '1k' },
          width: { const: 1024 },
          height: { const: 576 },
        },
      },
    },
  },
});

adapterContract(t, 'a video', {
  adapter,
  upstream,
  model: 'family-h-2.5',
  options: { result: 'video', input: { prompt: 'prompt', duration: 'duration', aspect_ratio: 'aspect_ratio' } },
  input: { prompt: 'a train passes', duration: 4, aspect_ratio: '9:16' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['video_url', 'duration', 'model', 'metadata'],
    properties: { video_url: stored('mp4'), duration: { const: 4 }, model: { const: 'family-h-2.5' } },
  },
});

adapterContract(t, 'music', {
  ...music,
  input: { prompt: 'slow piano', music_length_ms: 6000 },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['music_url', 'duration_seconds', 'metadata'],
    properties: {
      music_url: stored('mp3'),
      duration_seconds: { type: 'number', minimum: 5.9, maximum: 6.2 },
      metadata: { required: ['force_instrumental'], properties: { force_instrumental: { const: false } } },
    },
  },
});

t.test('copies the file before it answers', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const result = (await adapter.call({ prompt: 'a boat' }, binding, context)) as { image_url: string };
  t.match(readdirSync(context.mediaDirectory), [result.image_url.split('/').at(-1)]);
});

t.test('takes the first file where a model answers a list', async (t) => {
  const { binding, context } = await openSetting(t, { ...image, model: 'family-g-4.5' });
  t.match(await adapter.call({ prompt: 'a boat' }, binding, context), { image_url: /\.jpg$/ });
});

t.test('tells the metadata keys that the endpoint asks for', async (t) => {
  const { binding, context, doubles } = await openSetting(t, {
    ...image,
    options: { ...image.options, metadata: { aspectRatio: 'aspect_ratio' }, providerUrlKey: 'replicate_url' },
  });
  const input = { prompt: 'a boat', aspect_ratio: '1:1', referenceImage: ['https://example.com/a.png'] };
  const { metadata } = (await adapter.call(input, binding, context)) as { metadata: Record<string, unknown> };
  t.match(metadata, { aspectRatio: '1:1', reference_images: ['https://example.com/a.png'] });
  t.match(metadata.replicate_url, new RegExp(`^${doubles.origin}`));
});

for (const [format, extension] of [
  ['mp3_standard', 'mp3'],
  ['wav_16khz', 'wav'],
]) {
  t.test(`cuts music below the provider's minimum to the length that was paid for, as ${extension}`, async (t) => {
    const { binding, context } = await openSetting(t, music);
    const input = { prompt: 'a jingle', music_length_ms: 1000, output_format: format };
    const result = (await adapter.call(input, binding, context)) as { music_url: string; duration_seconds: number };
    t.match(result.music_url, new RegExp(`\\.${extension}$`));
    t.ok(Math.abs(result.duration_seconds - 1) < 0.05, `${result.duration_seconds} s`);
  });
}

t.test('tells a caller whose values the provider does not take, without its words', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const problem = await problemOf(adapter.call({ prompt: '' }, binding, context));
  t.equal(problem.failure, 'invalid-input');
  t.notMatch(String(problem.publicMessage), /prompt is required/);
});

t.test('a version that the provider does not have is no fault of the caller', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const unknown = { ...binding, model: { name: 'family-e-2', id: `somebody/old-model:${'0'.repeat(64)}` } };
  const problem = await problemOf(adapter.call({ prompt: 'a boat' }, unknown, context));
  t.equal(problem.failure, 'failed');
  t.equal(problem.publicMessage, undefined);
});

t.test(
  'a file that a model cannot fetch is the caller’s to change, though it is told by a job that failed',
  async (t) => {
    const { binding, context } = await openSetting(t, image);
    const input = { prompt: 'a boat', referenceImage: ['https://files.example.com/missing.png'] };
    const problem = await problemOf(adapter.call(input, binding, context));
    t.equal(problem.failure, 'invalid-input');
    t.match(problem.publicMessage, /cannot read a file/);
    t.notMatch(problem.publicMessage, /files\.example/);
  },
);
