import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { imageSize } from '../../../src/upstream/media/facts.ts';
import type { StoredMedia } from '../../../src/upstream/media/store.ts';
import { thumbnailOf } from '../../../src/upstream/media/thumbnail.ts';
import { openCallContext } from '../call-context.ts';

const inputImage = 'https://example.com/start.png';

function hasDecoder(): boolean {
  try {
    execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function clip(t: Test): Promise<{ video: StoredMedia; context: ReturnType<typeof openCallContext> }> {
  const context = openCallContext(t);
  const file = await makeFile(filePath({ kind: 'clip', seconds: 1, ratio: 16 / 9 }));
  return { video: await context.media.put(file?.bytes ?? Buffer.alloc(0), 'video'), context };
}

t.test(
  'shows the first frame where a decoder is at hand',
  { skip: hasDecoder() ? false : 'no ffmpeg here' },
  async (t) => {
    const { video, context } = await clip(t);
    const url = await thumbnailOf(video, { inputImage, ...context });
    const frame = readFileSync(path.join(context.mediaDirectory, String(url).split('/').at(-1) ?? ''));
    t.same(imageSize(frame), { width: 256, height: 144 });
  },
);

t.test('shows the input image, else nothing, where the video cannot be decoded', async (t) => {
  const { video, context } = await clip(t);
  const broken = { ...video, bytes: video.bytes.subarray(0, 64) };
  t.equal(await thumbnailOf(broken, { inputImage, ...context }), inputImage);
  t.equal(await thumbnailOf(broken, { inputImage: undefined, ...context }), null);
});

t.test('shows the input image where there is no room to decode the video in', async (t) => {
  const { video, context } = await clip(t);
  const { TMPDIR } = process.env;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  process.env.TMPDIR = path.join(t.testdir({}), 'nowhere');
  t.equal(await thumbnailOf(video, { inputImage, ...context }), inputImage);
});
