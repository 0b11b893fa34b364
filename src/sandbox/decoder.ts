/** A video decoder from npm for machines that have none, so that videos have thumbnails in the sandbox everywhere. */
import { createRequire } from 'node:module';
import { delimiter, dirname } from 'node:path';

const require = createRequire(import.meta.url);

/** Puts the packaged program behind everything else on the PATH: what the machine has is used first. */
export function provideDecoder(): void {
  const known = (process.env.PATH ?? '').split(delimiter);
  try {
    const found = dirname((require('@ffmpeg-installer/ffmpeg') as { path: string }).path);
    if (!known.includes(found)) process.env.PATH = [...known, found].join(delimiter);
  } catch {
    // Not packaged for this platform: without a decoder a video has no thumbnail of its own.
  }
}
