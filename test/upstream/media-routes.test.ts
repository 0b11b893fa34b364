/** What is sold as images, videos and sound, checked by the files that callers get. */
import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';
import t from 'tap';
import type { ImageResult } from '../../generated/schemas/image-result.ts';
import type { MusicResult } from '../../generated/schemas/music-result.ts';
import type { SpeechResult } from '../../generated/schemas/speech-result.ts';
import type { Transcript } from '../../generated/schemas/transcript.ts';
import type { VideoResult } from '../../generated/schemas/video-result.ts';
import { mediaDuration } from '../../src/upstream/media/facts.ts';
import { problemOf } from './providers/contract.ts';
import { openServed } from './served-routes.ts';

const prompt = 'a lighthouse in fog';
const picture = 'https://photos.example.com/harbour.jpg';
const another = 'https://photos.example.com/ferry.jpg';

/** One gateway for all tests that do not put its upstreams out of order. */
const { ask, stored, doubles } = await openServed(t);

/** As a parser says that the gateway does not use. */
async function secondsOf(bytes: Buffer, mimeType: string): Promise<number> {
  return (await parseBuffer(bytes, { mimeType }, { duration: true })).format.duration ?? Number.NaN;
}

async function sizeOf(bytes: Buffer): Promise<string> {
  const { width, height } = await sharp(bytes).metadata();
  return `${width}x${height}`;
}

for (const [path, input, size] of [
  ['/image/family-a-2-max', { aspect_ratio: '16:9' }, '1024x576'],
  ['/image/family-b-image-2', {}, '1024x1024'],
  ['/image/family-b-image-2', { aspect_ratio: '2:3' }, '1024x1536'],
  ['/image/family-c-imagine', {}, '1024x1024'],
  ['/image/family-d-2-large', { aspect_ratio: '4:5' }, '819x1024'],
  ['/image/family-e', { aspect_ratio: '9:16' }, '576x1024'],
  ['/image/family-e-pro', {}, '2048x2048'],
  ['/image/family-e-2', { resolution: '2k', aspect_ratio: '4:3' }, '2048x1536'],
  ['/image-model/family-g-4.5', { aspect_ratio: '3:2' }, '2048x1365'],
  ['/chain-e/image/family-a-2-flex', { aspect_ratio: 'custom', width: 512, height: 256 }, '512x256'],
] as const) {
  t.test(`${path} makes an image of the shape that ${JSON.stringify(input)} asks for`, async (t) => {
    const result = await ask<ImageResult>(path, { prompt, ...input });
    t.equal(await sizeOf(await stored(result.image_url)), size);
    t.equal(result.image_description, prompt);
  });
}

t.test('family-b-image-2 has the sizes that it promises from its second provider too', async (t) => {
  doubles.fault('openai', '500', 1);
  const before = doubles.calls().predictions ?? 0;
  const result = await ask<ImageResult>('/image/family-b-image-2', { prompt, aspect_ratio: '3:2' });
  t.equal(doubles.calls().predictions, before + 1);
  t.equal(await sizeOf(await stored(result.image_url)), '1536x1024');
  t.match(result.metadata, { quality: 'medium', aspect_ratio: '3:2' });
});

t.test('tells on the mirror where the provider’s own copy of an image is', async (t) => {
  const { metadata } = await ask<ImageResult>('/chain-e/image/family-a-2-max', { prompt, output_format: 'jpg' });
  t.match(metadata, { model: 'family-a-2-max', resolution: '1 MP', aspect_ratio: '1:1', output_format: 'jpg' });
  t.match(metadata.replicate_url, doubles.origin);
});

t.test('tells which reference images were used', async (t) => {
  const used = async (path: string, input: object) =>
    (await ask<ImageResult>(path, { prompt, ...input })).metadata.reference_images;
  const both = [picture, another];
  t.same(await used('/image/family-e', { referenceImage: both }), both);
  t.same(await used('/image/family-c-imagine', { referenceImage: picture }), [picture]);
  t.same(await used('/image-model/family-f-image', { referenceImage: both }), [picture], 'only the first');
  const { metadata } = await ask<ImageResult>('/chain-e/image-model/family-f-image', { prompt, referenceImage: both });
  t.match(metadata, { model: 'family-f-image', aspectRatio: '1:1', reference_images: [picture] });
});

async function video(path: string, input: object) {
  const result = await ask<VideoResult>(path, { prompt, ...input });
  return { ...result, measured: mediaDuration(await stored(result.video_url)) ?? 0 };
}

for (const [path, input, seconds] of [
  ['/video/family-c-1.5-short', { image_url: picture }, 10],
  ['/video/short-generation', { aspect_ratio: 'auto' }, 10],
  ['/mpp/video/short-generation', { image_url: picture }, 10],
  ['/video/family-h-generation', {}, 10],
  ['/video/family-h-generation', { duration: 1, aspect_ratio: '9:16' }, 1],
  ['/video/family-h-2.5', { duration: 4 }, 4],
] as const) {
  t.test(`${path} makes a video of ${seconds} s with a thumbnail`, async (t) => {
    const result = await video(path, input);
    t.equal(result.duration, seconds);
    t.ok(Math.abs(result.measured - seconds) < 0.05, `${result.measured}`);
    t.match(result.thumbnail_url, /^https:/);
  });
}

t.test('family-h generation always has sound, and sees all its reference images', async (t) => {
  const { metadata } = await video('/video/family-h-generation', {
    duration: 2,
    reference_images: [picture, another],
  });
  t.match(metadata, { generate_audio: true, reference_images: [picture, another], resolution: '480p' });
});

t.test('music has the length that was paid for', async (t) => {
  for (const music_length_ms of [1000, 7000]) {
    const result = await ask<MusicResult>('/audio/elevenlabs-music', { prompt, music_length_ms });
    const seconds = await secondsOf(await stored(result.music_url), 'audio/mpeg');
    t.ok(Math.abs(seconds - music_length_ms / 1000) < 0.1, `${seconds}`);
    t.ok(Math.abs(result.duration_seconds - seconds) < 0.1);
  }
});

t.test('speech plays as long as it says, in any voice', async (t) => {
  for (const voice_id of ['Eve', 'Ara', 'Leo', 'Rex', 'Sal']) {
    const result = await ask<SpeechResult>('/audio/x-text-to-speech', { text: 'Mind the step, please.', voice_id });
    const seconds = await secondsOf(await stored(result.audio_url), 'audio/mpeg');
    t.ok(Math.abs((result.duration_seconds ?? 0) - seconds) < 0.1, voice_id);
  }
});

t.test('a public sound file is transcribed, the same on both surfaces', async (t) => {
  const input = { audio_file: 'https://sounds.example.com/harbour.mp3' };
  const transcript = await ask<Transcript>('/audio/speech-to-text', input);
  t.match(transcript, { text: /\w/, metadata: { model: 'speech-to-text', language: 'en' } });
  t.same(await ask('/mpp/audio/speech-to-text', input), transcript);
});

t.test('a file that cannot be read is the caller’s fault, and no provider is asked', async (t) => {
  const before = doubles.calls().openai;
  for (const name of ['missing.mp3', 'redirect-to-private.mp3', 'picture.png']) {
    const problem = await problemOf(ask('/audio/speech-to-text', { audio_file: `https://sounds.example.com/${name}` }));
    t.match(problem, { failure: 'invalid-input' }, name);
  }
  t.equal(doubles.calls().openai, before);
});

for (const [path, input, upstream] of [
  ['/image/family-b-image-2', {}, 'openai'],
  ['/image/family-c-imagine', {}, 'xai'],
  ['/video/family-c-1.5-short', { image_url: picture }, 'xai'],
  ['/video/short-generation', {}, 'predictions'],
] as const) {
  t.test(`${path} asks another provider when ${upstream} fails, but not when it refuses the content`, async (t) => {
    const { ask, doubles } = await openServed(t);
    doubles.fault(upstream, '500', 1);
    await ask(path, { prompt, ...input });
    const other = upstream === 'predictions' ? 'xai' : 'predictions';
    t.match(doubles.calls(), { [upstream]: 1, [other]: 1 });
    doubles.fault(upstream, 'refuse', 1);
    t.match(await problemOf(ask(path, { prompt, ...input })), { failure: 'content-refused' });
    t.match(doubles.calls(), { [upstream]: 2, [other]: 1 });
  });
}
