import t from 'tap';
import { payV2 } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { measure } from './measure.ts';
import { PHOTO } from './row.ts';
import { callOf } from './wire.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c', 'chain-e'] });
t.teardown(gateway.stop);

type Result = Readonly<Record<string, unknown>>;

async function bought(path: string, body: object, network = 'chain-c'): Promise<Result> {
  const answer = await payV2(gateway, network, callOf(gateway, 'POST', path, { ...body }));
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Result;
}

const prompt = 'a lighthouse in fog';

/** Long sides of 1024, 2048 and 4096 pixels; a file may be a few pixels off the exact ratio. */
for (const [resolution, ratio, long] of [
  ['1k', '1:1', 1024],
  ['1k', '16:9', 1024],
  ['2k', '3:2', 2048],
  ['4k', '9:16', 4096],
] as const) {
  t.test(`an image in ${resolution} and ${ratio} is ${long} pixels long and has that shape`, async (t) => {
    const { image_url } = await bought('/image/family-e-2', { prompt, resolution, aspect_ratio: ratio });
    const { type, format, width = 0, height = 0 } = await measure(String(image_url));
    const [across = 0, down = 1] = ratio.split(':').map(Number);
    t.equal(type, `image/${format}`);
    t.equal(Math.max(width, height), long);
    t.ok(Math.abs(width / height / (across / down) - 1) < 0.02, `${width} x ${height}`);
  });
}

for (const [aspect_ratio, width, height] of [
  ['1:1', 1024, 1024],
  ['3:2', 1536, 1024],
  ['2:3', 1024, 1536],
] as const) {
  t.test(`family-b-image-2 draws ${aspect_ratio} as ${width} x ${height}`, async (t) => {
    const { image_url } = await bought('/image/family-b-image-2', { prompt, aspect_ratio }, 'chain-a');
    t.match(await measure(String(image_url)), { width, height });
  });
}

t.test('every other image endpoint keeps to the aspect ratio', async (t) => {
  for (const path of [
    '/image/designer',
    '/image/family-a-2-flex',
    '/image/family-d-2-medium',
    '/image-model/family-g-4.5',
  ]) {
    const { image_url } = await bought(path, { prompt, aspect_ratio: '4:3' }, 'chain-a');
    const { width = 0, height = 0 } = await measure(String(image_url));
    t.ok(Math.abs((width / height) * (3 / 4) - 1) < 0.02, `${path}: ${width} x ${height}`);
  }
});

for (const output_format of ['webp', 'png', 'jpg']) {
  t.test(
    `the mirrored family-a-2-pro makes a ${output_format} of the width and height that are asked for`,
    async (t) => {
      const body = { prompt, aspect_ratio: 'custom', width: 768, height: 512, output_format };
      const { image_url } = await bought('/chain-e/image/family-a-2-pro', body, 'chain-e');
      const format = output_format === 'jpg' ? 'jpeg' : output_format;
      t.match(await measure(String(image_url)), { type: `image/${format}`, format, width: 768, height: 512 });
    },
  );
}

t.test('a logo is square and banners are wide', async (t) => {
  const kit = await bought('/token/starter-kit', { prompt: 'a token for lighthouse keepers' }, 'chain-a');
  const logo = await measure(String(kit.logo_url));
  t.equal(logo.width, logo.height);
  const news = await bought('/ai/x-news', { x_username: 'lighthouse' }, 'chain-a');
  for (const url of [kit.banner_url, (news.trending_news as Result).banner_url]) {
    const { width = 0, height = 0 } = await measure(String(url));
    t.ok(width / height > 1.7, `${width} x ${height}`);
  }
});

for (const [path, body, seconds] of [
  ['/video/family-c-1.5-short', { image_url: PHOTO, resolution: '480p', aspect_ratio: '16:9' }, 10],
  ['/video/family-c-1.5-short', { image_url: PHOTO, aspect_ratio: '16:9' }, 10],
  ['/video/short-generation', { aspect_ratio: '16:9' }, 10],
  ['/video/family-h-generation', { duration: 1 }, 1],
  ['/video/family-h-generation', { duration: 3, resolution: '1080p' }, 3],
  ['/video/family-h-2.5', { duration: 4, resolution: '480p' }, 4],
  ['/video/family-h-2.5', { duration: 6, aspect_ratio: '9:16' }, 6],
] as const) {
  t.test(`${path} with ${JSON.stringify(body)} is a film of ${seconds} s`, async (t) => {
    const result = await bought(path, { prompt, ...body });
    const film = await measure(String(result.video_url));
    t.equal(film.type, 'video/mp4');
    t.match(film.format, /mp4/);
    t.equal(result.duration, seconds);
    t.ok(Math.abs((film.seconds ?? 0) - seconds) < 0.1, `${film.seconds} s`);
    const { width = 0, height = 0 } = film;
    const across = 'aspect_ratio' in body && body.aspect_ratio === '9:16' ? 9 / 16 : 16 / 9;
    t.ok(Math.abs(width / height / across - 1) < 0.03, `${width} x ${height}`);
    if (result.thumbnail_url !== undefined) t.match(await measure(String(result.thumbnail_url)), { type: /^image\// });
  });
}

for (const [output_format, type, sampleRate] of [
  ['mp3_standard', 'audio/mpeg', undefined],
  ['wav_16khz', 'audio/wav', 16_000],
  ['wav_cd_quality', 'audio/wav', 44_100],
] as const) {
  t.test(`music in ${output_format} plays as long as it was paid for`, async (t) => {
    const result = await bought('/audio/elevenlabs-music', {
      prompt: 'a slow waltz',
      music_length_ms: 6000,
      output_format,
    });
    const music = await measure(String(result.music_url));
    t.equal(music.type.replace('x-wav', 'wav'), type);
    t.ok(Math.abs(Number(result.duration_seconds) - 6) < 0.1, `${result.duration_seconds} s are claimed`);
    t.ok(Math.abs((music.seconds ?? 0) - 6) < 0.1, `${music.seconds} s`);
    if (sampleRate !== undefined) t.equal(music.sampleRate, sampleRate);
  });
}

t.test("music below the provider's minimum is cut to the length that was paid for", async (t) => {
  const result = await bought('/audio/elevenlabs-music', { prompt: 'a slow waltz', music_length_ms: 1000 });
  const { seconds = 0 } = await measure(String(result.music_url));
  t.ok(Math.abs(seconds - 1) < 0.1, `${seconds} s`);
  t.ok(Math.abs(Number(result.duration_seconds) - seconds) < 0.1, 'and the result tells the truth');
});

t.test('speech is an MP3, or what its output_format says, and as long as it claims', async (t) => {
  const text = 'The light is on and the fog has lifted.';
  for (const [output_format, type, sampleRate] of [
    [undefined, /audio\/mpeg/, undefined],
    ['mp3', /audio\/mpeg/, undefined],
    [{ codec: 'wav', sample_rate: 16_000 }, /audio\/(x-)?wav/, 16_000],
  ] as const) {
    const body = output_format === undefined ? { text } : { text, output_format };
    const result = await bought('/audio/x-text-to-speech', body, 'chain-a');
    const speech = await measure(String(result.audio_url));
    t.match(speech.type, type);
    if (sampleRate !== undefined) t.equal(speech.sampleRate, sampleRate);
    if (result.duration_seconds !== undefined) {
      t.ok(Math.abs((speech.seconds ?? 0) - Number(result.duration_seconds)) < 0.2, `${speech.seconds} s`);
    }
  }
});
