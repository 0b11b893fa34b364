/** Files behind results, measured by programs that had no part in making them. */
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

interface Probe {
  readonly format: { readonly format_name: string; readonly duration?: string };
  readonly streams: readonly { readonly width?: number; readonly height?: number; readonly sample_rate?: string }[];
}

const run = promisify(execFile);

/** Undefined where ffprobe is not installed. */
async function probe(bytes: Buffer): Promise<Probe | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-measure-'));
  const file = join(directory, 'file');
  writeFileSync(file, bytes);
  try {
    const { stdout } = await run('ffprobe', [
      '-v',
      'error',
      '-print_format',
      'json',
      '-show_format',
      '-show_streams',
      file,
    ]);
    return JSON.parse(stdout) as Probe;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureStream(bytes: Buffer, type: string): Promise<Omit<Measured, 'type'>> {
  const probed = await probe(bytes);
  if (probed) {
    const { format, streams } = probed;
    const sampleRate = streams.find(({ sample_rate }) => sample_rate !== undefined)?.sample_rate;
    const picture = streams.find(({ width }) => width !== undefined);
    return {
      format: format.format_name,
      width: picture?.width,
      height: picture?.height,
      seconds: format.duration === undefined ? undefined : Number(format.duration),
      sampleRate: sampleRate === undefined ? undefined : Number(sampleRate),
    };
  }
  const { format } = await parseBuffer(bytes, { mimeType: type }, { duration: true });
  const video = format.trackInfo.find((track) => track.video)?.video;
  return {
    format: `${format.container ?? ''} ${format.codec ?? ''}`.toLowerCase(),
    width: video?.pixelWidth,
    height: video?.pixelHeight,
    seconds: format.duration,
    sampleRate: format.sampleRate,
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
