import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { openDownloader } from '../../../../src/upstream/http/download.ts';
import { openaiMedia } from '../../../../src/upstream/providers/openai/media-adapter.ts';
import { PUBLIC_URL } from '../../call-context.ts';
import { adapterContract, openSetting, problemOf } from '../contract.ts';

const adapter: Adapter = openaiMedia;
const upstream = {
  keys: { key: 'OPENAI_API_KEY' },
  models: { painter: { id: 'gpt-image-2' }, listener: { id: 'gpt-4o-transcribe' } },
};
const image = {
  adapter,
  upstream,
  model: 'painter',
  options: {
    result: 'image',
    input: {
      prompt: 'prompt',
      size: { from: 'aspect_ratio', values: { '1:1': '1024x1024', '3:2': '1536x1024', '2:3': '1024x1536' } },
    },
    fixed: { quality: 'medium' },
  },
};
const transcript = {
  adapter,
  upstream,
  model: 'listener',
  options: { result: 'transcript', input: { file: 'audio_file', language: 'language' } },
};

adapterContract(t, 'an image', {
  ...image,
  input: { prompt: 'a lighthouse in fog', aspect_ratio: '3:2' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['image_url', 'image_description', 'metadata'],
    properties: {
      image_url: { type: 'string', pattern: `^${PUBLIC_URL}/[0-9a-f]{32}\\.png$` },
      image_description: { const: 'a lighthouse in fog' },
      metadata: {
        type: 'object',
        required: ['request_id'],
        properties: {
          model: { const: 'painter' },
          quality: { const: 'medium' },
          aspect_ratio: { const: '3:2' },
          width: { const: 1536 },
          height: { const: 1024 },
        },
      },
    },
  },
});

adapterContract(t, 'a transcript', {
  ...transcript,
  input: { audio_file: 'https://files.example.com/harbour.mp3', language: 'en' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'metadata'],
    properties: {
      text: { type: 'string', minLength: 1 },
      metadata: {
        type: 'object',
        properties: {
          model: { const: 'listener' },
          language: { const: 'en' },
          duration_seconds: { type: 'number', minimum: 3.9, maximum: 4.2 },
        },
      },
    },
  },
});

t.test('keeps the bytes that the provider answers', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const { image_url } = (await adapter.call({ prompt: 'a boat', aspect_ratio: '2:3' }, binding, context)) as {
    image_url: string;
  };
  const { width, height, format } = await sharp(
    readFileSync(join(context.mediaDirectory, basename(image_url))),
  ).metadata();
  t.match({ width, height, format }, { width: 1024, height: 1536, format: 'png' });
});

t.test('transcribes WAV and the sound of a video, in the language without its region', async (t) => {
  const { binding, context } = await openSetting(t, transcript);
  for (const name of ['a.wav', 'a.mp4', 'A.MP3']) {
    const input = { audio_file: `https://files.example.com/${name}`, language: 'en-GB' };
    t.match(await adapter.call(input, binding, context), { text: /\w/, metadata: { language: 'en' } }, name);
  }
});

for (const [what, address] of [
  ['is not there', 'https://files.example.com/missing.mp3'],
  ['leads to a private address', 'https://files.example.com/redirect-to-private.mp3'],
  ['is a picture', 'https://files.example.com/photo.png'],
  ['is a PDF', 'https://files.example.com/letter.pdf'],
  ['is a page', 'https://files.example.com/player.html'],
  ['is at a private address', 'https://192.168.1.1/a.mp3'],
]) {
  t.test(`blames the caller for a file that ${what}, before the provider is asked`, async (t) => {
    const { binding, context, doubles } = await openSetting(t, transcript);
    const problem = await problemOf(adapter.call({ audio_file: address }, binding, context));
    t.equal(problem.failure, 'invalid-input');
    t.match(problem.publicMessage, /file/);
    t.same(doubles.calls(), { 'the-upstream': 0 });
  });
}

for (const [what, name, message] of [
  ['plays for longer than is sold', 'a.mp3', /^audio_file plays for more than 3 seconds, .*cut it/],
  ['plays for longer than is sold, as WAV', 'a.wav', /^audio_file plays for more than 3 seconds, .*cut it/],
] as const) {
  t.test(`refuses a file that ${what}, before the provider is asked`, async (t) => {
    const short = { ...transcript, options: { ...transcript.options, maxSeconds: 3 } };
    const { binding, context, doubles } = await openSetting(t, short);
    const call = adapter.call({ audio_file: `https://files.example.com/${name}` }, binding, context);
    t.match(await problemOf(call), { failure: 'invalid-input', publicMessage: message });
    t.same(doubles.calls(), { 'the-upstream': 0 });
  });
}

t.test('takes a file that plays for as long as is sold', async (t) => {
  const enough = { ...transcript, options: { ...transcript.options, maxSeconds: 5 } };
  const { binding, context } = await openSetting(t, enough);
  for (const name of ['a.mp3', 'a.wav']) {
    const input = { audio_file: `https://files.example.com/${name}`, language: 'en' };
    t.match(await adapter.call(input, binding, context), { text: /\w/ }, name);
  }
});

t.test('what the provider finds wrong with the model is no fault of the caller', async (t) => {
  const { binding, context } = await openSetting(t, image);
  const error = {
    message: "Invalid value: 'gpt-image-2'. Supported values are: 'gpt-image-3'.",
    type: 'image_generation_user_error',
    param: 'model',
    code: 'invalid_value',
  };
  const refused = { status: 400, headers: {}, body: Buffer.alloc(0), sent: '', json: () => ({ error }) };
  const http = { ...binding.http, request: async () => refused };
  const call = adapter.call({ prompt: 'a boat', aspect_ratio: '1:1' }, { ...binding, http }, context);
  t.match(await problemOf(call), { failure: 'failed', publicMessage: undefined });
});

t.test('reads no more than 25 MB', async (t) => {
  const server = createServer((_request, response) => response.end(Buffer.alloc(26 * 1024 * 1024)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const downloads = openDownloader({ trustedOrigins: [], readFrom: () => new URL(origin) });
  t.teardown(() => downloads.close());
  const { binding, context } = await openSetting(t, transcript);
  const input = { audio_file: 'https://files.example.com/opera.mp3' };
  const problem = await problemOf(adapter.call(input, binding, { ...context, downloads }));
  t.match(problem, { failure: 'invalid-input', publicMessage: /more than 26214400 bytes/ });
});
