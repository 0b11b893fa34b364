/** What a file says of itself: how long it plays, how large the picture is. Read from its bytes, not decoded. */
import { mp3Duration, trimMp3 } from './mp3.ts';
import { mp4Duration } from './mp4.ts';
import { sniffMediaType } from './type.ts';
import { trimWav, wavDuration } from './wav.ts';

/** Seconds that an MP4, M4A, MP3 or WAV plays, or undefined for other files and for ones that do not say. */
export function mediaDuration(bytes: Buffer): number | undefined {
  switch (sniffMediaType(bytes)?.type) {
    case 'audio/mp4':
    case 'video/mp4':
      return mp4Duration(bytes);
    case 'audio/mpeg':
      return mp3Duration(bytes);
    case 'audio/wav':
      return wavDuration(bytes);
    default:
      return undefined;
  }
}

/** The first so many seconds of an MP3 or WAV; other files come back as they are. */
export function trimAudio(bytes: Buffer, seconds: number): Buffer {
  switch (sniffMediaType(bytes)?.type) {
    case 'audio/mpeg':
      return trimMp3(bytes, seconds);
    case 'audio/wav':
      return trimWav(bytes, seconds);
    default:
      return bytes;
  }
}

interface ImageSize {
  width: number;
  height: number;
}

/** Pixels of a PNG, JPEG or WebP, or undefined. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  switch (sniffMediaType(bytes)?.type) {
    case 'image/png':
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    case 'image/jpeg':
      return jpegSize(bytes);
    case 'image/webp':
      return webpSize(bytes);
    default:
      return undefined;
  }
}

/** The frame header (SOF) holds the size; C4, C8 and CC are other markers in its range. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let offset = 2; offset + 9 <= bytes.length && bytes.readUInt8(offset) === 0xff; ) {
    const marker = bytes.readUInt8(offset + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) };
    }
    offset += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

/** RFC 9649: lossy (VP8), lossless (VP8L) and extended (VP8X) files keep the size in different places. */
function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
