/** A video decoder from npm for machines that have none, so that videos have thumbnails in the sandbox everywhere. */
import { createRequire } from 'node:module';
import { delimiter, dirname } from 'node:path';

const require = createRequire(import.meta.url);

/** Puts the packaged programs behind everything else on the PATH: what the machine has is used first. */
export function provideDecoder(): void {
  const found = ['@ffmpeg-installer/ffmpeg', '@ffprobe-installer/ffprobe'].flatMap((name) => {
    try {
      return [dirname((require(name) as { path: string }).path)];
    } catch {
      // Not packaged for this platform: without a decoder a video has no thumbnail of its own.
      return [];
    }
  });
  const known = (process.env.PATH ?? '').split(delimiter);
  process.env.PATH = [...known, ...found.filter((directory) => !known.includes(directory))].join(delimiter);
}
