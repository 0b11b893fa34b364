import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';
import t from 'tap';
import { type FilePlan, filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { imageSize, mediaDuration, trimAudio } from '../../../src/upstream/media/facts.ts';
import { sniffMediaType } from '../../../src/upstream/media/type.ts';

async function fileOf(plan: FilePlan): Promise<Buffer> {
  const file = await makeFile(filePath(plan));
  if (file === undefined) throw new Error('no file');
  t.equal(sniffMediaType(file.bytes)?.type, file.type, 'the bytes say the same type');
  return file.bytes;
}

async function independentDuration(bytes: Buffer, mimeType: string): Promise<number> {
  const { format } = await parseBuffer(bytes, { mimeType }, { duration: true });
  return format.duration ?? Number.NaN;
}

const isNear = (one: number | undefined, other: number, tolerance: number): boolean =>
  one !== undefined && Math.abs(one - other) <= tolerance;

for (const seconds of [1, 4, 30]) {
  t.test(`reads the length of an MP4 of ${seconds} s`, async (t) => {
    const bytes = await fileOf({ kind: 'clip', seconds, ratio: 16 / 9 });
    t.ok(isNear(mediaDuration(bytes), seconds, 0.01), `${mediaDuration(bytes)}`);
  });
}

for (const [format, type] of [
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
] as const) {
  t.test(`measures and cuts ${format}`, async (t) => {
    const bytes = await fileOf({ kind: 'sound', seed: 'a song', seconds: 5, format, sampleRate: 22_050 });
    t.ok(isNear(mediaDuration(bytes), await independentDuration(bytes, type), 0.06), `${mediaDuration(bytes)}`);
    const cut = trimAudio(bytes, 2);
    t.equal(sniffMediaType(cut)?.type, type);
    t.ok(isNear(mediaDuration(cut), 2, 0.06), `${mediaDuration(cut)}`);
    t.ok(isNear(await independentDuration(cut, type), 2, 0.06));
    t.ok(isNear(mediaDuration(trimAudio(bytes, 60)), 5, 0.1), 'nothing to cut');
  });
}

t.test('does not count the frame that only describes an MP3', async (t) => {
  const bytes = await fileOf({ kind: 'sound', seed: 'a song', seconds: 1, format: 'mp3', sampleRate: 22_050 });
  const described = Buffer.concat([bytes.subarray(0, 417)]);
  described.fill(0, 4);
  described.write('Info', 4 + 9, 'latin1');
  const length = frameLength(bytes);
  const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
  const withTags = Buffer.concat([tag, described.subarray(0, length), bytes]);
  t.equal(mediaDuration(withTags), mediaDuration(bytes));
});

/** The first frame ends where the next one starts with the same two bytes. */
const frameLength = (bytes: Buffer): number => bytes.indexOf(bytes.subarray(0, 2), 2);

t.test('reads the size of pictures', async (t) => {
  for (const format of ['png', 'jpg', 'webp'] as const) {
    const bytes = await fileOf({ kind: 'picture', seed: 'x', width: 320, height: 200, label: '<&>', format });
    t.same(imageSize(bytes), { width: 320, height: 200 }, format);
  }
  const raw = sharp({ create: { width: 33, height: 21, channels: 4, background: '#12345678' } });
  t.same(
    imageSize(await raw.clone().webp({ lossless: true }).toBuffer()),
    { width: 33, height: 21 },
    'lossless, with alpha',
  );
  t.same(imageSize(await raw.clone().jpeg({ progressive: true }).withMetadata().toBuffer()), { width: 33, height: 21 });
});

t.test('a picture and a sound in the container of films are what they are', async (t) => {
  const raw = sharp({ create: { width: 32, height: 32, channels: 3, background: '#123456' } });
  t.match(sniffMediaType(await raw.avif().toBuffer()), { kind: 'image', type: 'image/avif', extension: 'avif' });
  const startOf = (...brands: string[]) => {
    const start = Buffer.from(`....ftyp${brands[0]}....${brands.slice(1).join('')}`);
    start.writeUInt32BE(start.length);
    return Buffer.concat([start, Buffer.from('....metaavif')]);
  };
  for (const brands of [['heic', 'mif1', 'heic'], ['heix'], ['hevc'], ['mif1', 'mif1', 'heic'], ['msf1']]) {
    t.match(
      sniffMediaType(startOf(...brands)),
      { kind: 'image', type: 'image/heic', extension: 'heic' },
      brands.join(),
    );
  }
  t.match(sniffMediaType(startOf('mif1', 'mif1', 'avif')), { type: 'image/avif' });
  t.match(sniffMediaType(startOf('isom', 'iso2', 'mp41')), { type: 'video/mp4' });
  const path = join(t.testdir(), 'tone.m4a');
  execFileSync(ffmpeg.path, ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=2', '-c:a', 'aac', path]);
  const tone = readFileSync(path);
  t.match(sniffMediaType(tone), { kind: 'audio', type: 'audio/mp4', extension: 'm4a' });
  t.ok(isNear(mediaDuration(tone), 2, 0.1), `${mediaDuration(tone)}`);
});

t.test('says nothing of files it does not know, or that are cut off', async (t) => {
  const clip = await fileOf({ kind: 'clip', seconds: 1, ratio: 1 });
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('<html></html>'),
    clip.subarray(0, 40),
    Buffer.from('RIFF....WAVE'),
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0]),
  ]) {
    t.equal(mediaDuration(bytes), undefined);
    t.equal(imageSize(bytes), undefined);
    t.same(trimAudio(bytes, 1), bytes);
  }
});
