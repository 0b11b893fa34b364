import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { filePath, makeFile } from '../../../../src/sandbox/files/index.ts';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { mediaDuration } from '../../../../src/upstream/media/facts.ts';
import { firstFrame } from '../../../../src/upstream/media/ffmpeg.ts';
import { replicatePredictions } from '../../../../src/upstream/providers/replicate/adapter.ts';
import { openSetting } from '../contract.ts';

const clip = await makeFile(filePath({ kind: 'clip', seconds: 1, ratio: 1 }));
const hasFfmpeg = clip !== undefined && (await firstFrame(clip.bytes, new AbortController().signal)) !== undefined;

t.test(
  'cuts a video that the model makes no shorter to the length that was asked for',
  { skip: hasFfmpeg ? false : 'no ffmpeg here' },
  async (t) => {
    const adapter: Adapter = replicatePredictions;
    const { binding, context } = await openSetting(t, {
      adapter,
      upstream: {
        keys: { key: 'REPLICATE_API_TOKEN' },
        models: { filmer: { id: 'bytedance/seedance-2.0', kind: 'video', minimums: { duration: 4 } } },
      },
      model: 'filmer',
      options: { result: 'video', input: { prompt: 'prompt', duration: 'duration' } },
    });
    for (const duration of [2, 6]) {
      const result = (await adapter.call({ prompt: 'fog', duration }, binding, context)) as {
        video_url: string;
        duration: number;
      };
      t.equal(result.duration, duration);
      const measured = mediaDuration(readFileSync(join(context.mediaDirectory, basename(result.video_url)))) ?? 0;
      t.ok(Math.abs(measured - duration) < 0.3, `${measured}`);
    }
  },
);
