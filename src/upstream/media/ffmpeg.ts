/** What needs a video decoder. None is shipped: an `ffmpeg` on the PATH is used where there is one. */
import { execFile } from 'node:child_process';
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TIME_LIMIT_MS = 15_000;
const FOLDER = 'turnpike-ffmpeg-';
/** Nobody works in one for so long. */
const FOLDER_KEPT_MS = 3_600_000;

let installed: Promise<boolean> | undefined;

/** Looked for once. */
function isInstalled(): Promise<boolean> {
  installed ??= run('ffmpeg', ['-version']).then(
    () => true,
    () => false,
  );
  return installed;
}

/**
 * What ffmpeg makes of a video with these output options, or undefined where it is not installed, cannot read the video, or
 * has no room to work in. Never throws: the video itself is made, and paid for.
 */
async function convert(
  video: Buffer,
  options: readonly string[],
  fileName: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (!(await isInstalled())) return undefined;
  let directory: string | undefined;
  try {
    directory = await mkdtemp(path.join(tmpdir(), FOLDER));
    const source = path.join(directory, 'video');
    const target = path.join(directory, fileName);
    await writeFile(source, video);
    // The whitelist keeps a hostile file from making ffmpeg open anything else.
    const input = ['-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file', '-i', source];
    await run('ffmpeg', [...input, ...options, target], { signal, timeout: TIME_LIMIT_MS });
    return await readFile(target);
  } catch {
    return undefined;
  } finally {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Removes what a process has left that was killed at its work: videos are large, and some systems keep them for ever. */
export async function clearFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(FOLDER)) continue;
    const folder = path.join(tmpdir(), name);
    // It may be another user's, and another instance clears them, too.
    const found = await lstat(folder).catch(() => undefined);
    if (!found || found.mtimeMs >= Date.now() - FOLDER_KEPT_MS) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The first frame as a JPEG, or undefined. */
export const firstFrame = (video: Buffer, signal: AbortSignal): Promise<Buffer | undefined> =>
  convert(video, ['-frames:v', '1', '-q:v', '3'], 'frame.jpg', signal);

/** The first so many seconds as an MP4, or undefined. Nothing is encoded anew. */
export const trimVideo = (video: Buffer, seconds: number, signal: AbortSignal): Promise<Buffer | undefined> =>
  convert(video, ['-t', String(seconds), '-c', 'copy', '-movflags', '+faststart'], 'cut.mp4', signal);
