/** Files behind results, measured by packages that had no part in making them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';

interface Measured {
  /** Media type as served. */
  readonly type: string;
  /** What the bytes are: png, mp4, mp3, ... */
  readonly format: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly seconds: number | undefined;
  readonly sampleRate: number | undefined;
}

const run = promisify(execFile);

/** What ffmpeg says of a film: its first picture is written nowhere. */
async function watched(film: Buffer): Promise<Pick<Measured, 'width' | 'height' | 'seconds'>> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-measure-'));
  const file = join(directory, 'film');
  writeFileSync(file, film);
  try {
    const { stderr } = await run('ffmpeg', ['-hide_banner', '-i', file, '-frames:v', '1', '-f', 'null', '-']);
    const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(stderr) ?? [];
    const [, width, height] = /Video: .*? (\d{2,})x(\d{2,})/.exec(stderr) ?? [];
    return {
      width: Number(width),
      height: Number(height),
      seconds: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureStream(bytes: Buffer, type: string): Promise<Omit<Measured, 'type'>> {
  const { format } = await parseBuffer(bytes, { mimeType: type }, { duration: true });
  return {
    format: `${format.container ?? ''} ${format.codec ?? ''}`.toLowerCase(),
    width: undefined,
    height: undefined,
    seconds: format.duration,
    sampleRate: format.sampleRate,
    ...(type.startsWith('video/') && (await watched(bytes))),
  };
}

export async function measure(url: string): Promise<Measured> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const type = answer.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (!type.startsWith('image/')) return { type, ...(await measureStream(bytes, type)) };
  const { format, width, height } = await sharp(bytes).metadata();
  return { type, format, width, height, seconds: undefined, sampleRate: undefined };
}
