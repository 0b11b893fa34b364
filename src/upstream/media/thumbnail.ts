import { firstFrame } from './ffmpeg.ts';
import type { MediaStore, StoredMedia } from './store.ts';

/**
 * The address of a still picture for a video: its first frame where a decoder is at hand, else the image it was made
 * from, else null. A video that cannot be decoded is no failure: the caller paid for the video.
 */
export async function thumbnailOf(
  video: StoredMedia,
  options: { inputImage: string | undefined; media: MediaStore; signal: AbortSignal },
): Promise<string | null> {
  const frame = await firstFrame(video.bytes, options.signal);
  if (frame === undefined) return options.inputImage ?? null;
  return (await options.media.put(frame, 'image')).url;
}
