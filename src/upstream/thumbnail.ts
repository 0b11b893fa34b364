import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { MediaStore, StoredMedia } from './media.ts';

const run = promisify(execFile);
const TIME_LIMIT_MS = 15_000;

let decoder: Promise<boolean> | undefined;

/** Whether an `ffmpeg` is on the PATH. Looked for once. */
function hasDecoder(): Promise<boolean> {
  decoder ??= run('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );
  return decoder;
}

/**
 * The address of a still picture for a video: its first frame where a decoder is at hand, else the image it was made
 * from, else null. A video that cannot be decoded is no failure: the caller paid for the video.
 */
export async function thumbnailOf(
  video: StoredMedia,
  options: { inputImage: string | undefined; media: MediaStore; signal: AbortSignal },
): Promise<string | null> {
  const fallback = options.inputImage ?? null;
  if (!(await hasDecoder())) return fallback;
  const directory = await mkdtemp(path.join(tmpdir(), 'turnpike-frame-'));
  try {
    const source = path.join(directory, 'video');
    const frame = path.join(directory, 'frame.jpg');
    await writeFile(source, video.bytes);
    // The whitelist keeps a hostile file from making ffmpeg open anything else.
    const input = ['-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file', '-i', source];
    await run('ffmpeg', [...input, '-frames:v', '1', '-q:v', '3', frame], {
      signal: options.signal,
      timeout: TIME_LIMIT_MS,
    });
    return (await options.media.put(await readFile(frame), 'image')).url;
  } catch {
    return fallback;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
