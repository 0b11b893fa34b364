/** The providers' own clients, pointed at the doubles. */
import { createXai } from '@ai-sdk/xai';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';
import { filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { sniffMediaType } from '../../../src/upstream/media/type.ts';

const upstreams: Upstream[] = [
  {
    name: 'openai',
    adapter: 'openai-media',
    baseUrl: 'https://api.openai.com/v1',
    models: { painter: { id: 'gpt-image-2' }, listener: { id: 'whisper-1' } },
  },
  {
    name: 'xai',
    adapter: 'xai-media',
    baseUrl: 'https://api.x.ai/v1',
    models: { painter: { id: 'grok-imagine-image' }, filmer: { id: 'grok-imagine-video-1.5' } },
  },
];

async function open(t: Test) {
  const doubles = await startDoubles({ upstreams });
  t.teardown(() => doubles.close());
  const apiKey = sandboxSecret('SOME_KEY');
  return {
    doubles,
    openai: new OpenAI({ baseURL: doubles.baseUrlOf('openai'), apiKey, maxRetries: 0 }),
    xai: createXai({ baseURL: doubles.baseUrlOf('xai'), apiKey }),
  };
}

async function sound() {
  const plan = { kind: 'sound', seed: 'clients', seconds: 2, format: 'mp3', sampleRate: 22_050 } as const;
  const file = await makeFile(filePath(plan));
  return await toFile(file?.bytes ?? Buffer.alloc(0), 'sound.mp3');
}

t.test('the OpenAI client gets an image as bytes', async (t) => {
  const { openai } = await open(t);
  const answer = await openai.images.generate({
    model: 'gpt-image-2',
    prompt: 'fog',
    size: '1536x1024',
    quality: 'medium',
  });
  const { width, height } = await sharp(Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64')).metadata();
  t.match({ width, height, quality: answer.quality }, { width: 1536, height: 1024, quality: 'medium' });
});

t.test('the OpenAI client gets a transcript, short and long', async (t) => {
  const { openai } = await open(t);
  const request = { model: 'whisper-1', file: await sound(), language: 'en' };
  const { text } = await openai.audio.transcriptions.create(request);
  t.match(text, /\w/);
  const long = await openai.audio.transcriptions.create({ ...request, response_format: 'verbose_json' });
  t.equal(long.text, text);
  t.ok(Math.abs(Number(long.duration) - 2) < 0.2);
});

t.test('the OpenAI client sees the protocol’s errors', async (t) => {
  const { openai, doubles } = await open(t);
  const request = { model: 'gpt-image-2', prompt: 'fog' };
  await t.rejects(openai.images.generate({ ...request, size: '512x512' }), /400 Invalid value/);
  doubles.fault('openai', 'refuse', 1);
  await t.rejects(openai.images.generate(request), { status: 400, code: 'moderation_blocked' });
  const file = await toFile(Buffer.from('no sound'), 'sound.mp3');
  await t.rejects(openai.audio.transcriptions.create({ model: 'whisper-1', file }), /corrupted or unsupported/);
});

const imageCall = {
  n: 1,
  size: undefined,
  aspectRatio: '16:9',
  seed: undefined,
  mask: undefined,
  providerOptions: {},
} as const;

t.test('the xAI client gets an image, and an edit of one', async (t) => {
  const { xai } = await open(t);
  const model = xai.image('grok-imagine-image');
  const { images, providerMetadata } = await model.doGenerate({ ...imageCall, prompt: 'fog', files: undefined });
  const { width, height } = await sharp(Buffer.from(String(images[0]), 'base64')).metadata();
  t.match({ width, height }, { width: 1024, height: 576 });
  t.match(providerMetadata?.xai, { costInUsdTicks: Number });
  const files = [{ type: 'url' as const, url: 'https://example.com/a.png' }];
  const edited = await model.doGenerate({ ...imageCall, prompt: 'fog', files });
  t.not(String(edited.images[0]), String(images[0]));
});

t.test('the xAI client starts a video, polls it and is told what was refused', async (t) => {
  const { xai, doubles } = await open(t);
  const model = xai.video('grok-imagine-video-1.5');
  const call = {
    prompt: 'the fog lifts',
    n: 1,
    aspectRatio: '16:9',
    resolution: '1280x720',
    duration: 10,
    fps: undefined,
    seed: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: undefined,
    providerOptions: { xai: { pollIntervalMs: 20 } },
  } as const;
  const { videos } = await model.doGenerate(call);
  const [made] = videos;
  const file = await fetch(made?.type === 'url' ? made.url : '');
  t.equal(sniffMediaType(Buffer.from(await file.arrayBuffer()))?.type, 'video/mp4');
  doubles.fault('xai', 'refuse', 1);
  await t.rejects(async () => model.doGenerate(call), /content policy/);
});

t.test('the xAI double speaks, plain and with its length, as docs.x.ai has it', async (t) => {
  const { doubles } = await open(t);
  const speak = (more: object) =>
    fetch(`${doubles.baseUrlOf('xai')}/tts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandboxSecret('SOME_KEY')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Mind the step.', voice_id: 'Ara', language: 'auto', ...more }),
    });
  const plain = Buffer.from(await (await speak({})).arrayBuffer());
  t.equal(sniffMediaType(plain)?.type, 'audio/mpeg');
  const timed = (await (await speak({ with_timestamps: true })).json()) as Record<string, unknown>;
  t.match(timed, { audio: String, duration: Number, content_type: 'audio/mpeg' });
  const refused = await speak({ voice_id: 'nobody' });
  t.equal(refused.status, 400);
  t.match(await refused.text(), /unknown voice/);
});
