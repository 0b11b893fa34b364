import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadEncoder } from './h264-encoder.ts';

export interface Clip {
  seconds: number;
  /** Width / height. */
  ratio: number;
}

const FRAMES_PER_SECOND = 4;
const LONG_SIDE = 256;
const LUMA_RANGE = 200;

const made = new Map<string, Promise<Buffer>>();

/** A silent H.264 clip of exactly this length: a slow sweep of light. The same clip for the same length and shape. */
export function makeClip({ seconds, ratio }: Clip): Promise<Buffer> {
  const width = even(ratio >= 1 ? LONG_SIDE : LONG_SIDE * ratio);
  const height = even(ratio >= 1 ? LONG_SIDE / ratio : LONG_SIDE);
  const key = `${seconds} ${width}x${height}`;
  const known = made.get(key);
  if (known) return known;
  const clip = encode(seconds, width, height);
  made.set(key, clip);
  return clip;
}

const even = (pixels: number): number => Math.max(16, Math.round(pixels / 2) * 2);

async function encode(seconds: number, width: number, height: number): Promise<Buffer> {
  const encoder = await loadEncoder().createH264MP4Encoder();
  try {
    // All encoders share one file system.
    encoder.outputFilename = `${randomUUID()}.mp4`;
    Object.assign(encoder, { width, height, frameRate: FRAMES_PER_SECOND, speed: 10, quantizationParameter: 40 });
    encoder.initialize();
    const frame = new Uint8Array((width * height * 3) / 2);
    const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND));
    for (let number = 0; number < frames; number += 1) {
      for (let row = 0; row < height; row += 1) {
        frame.fill(16 + ((row + number * 2) % LUMA_RANGE), row * width, (row + 1) * width);
      }
      frame.fill(90 + (number % 76), width * height);
      encoder.addFrameYuv(frame);
      // Encoding is synchronous: give the gateway in the same process its turn.
      if (number % FRAMES_PER_SECOND === 0) await nextTurn();
    }
    encoder.finalize();
    return Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  } finally {
    encoder.FS.unlink(encoder.outputFilename);
    encoder.delete();
  }
}
