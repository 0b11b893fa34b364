/** MPEG audio layer III (ISO 11172-3, 13818-3): enough of its frames to measure and cut a file without decoding it. */
import { Untold } from './playing/untold.ts';

interface Frame {
  offset: number;
  bytes: number;
  samples: number;
  sampleRate: number;
  /** Bytes from the frame's start to its main data. */
  sideEnd: number;
}

const bitRates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const bitRates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRates1 = [44_100, 48_000, 32_000];

/** The frame at this place, or undefined where none starts. */
function frameAt(bytes: Buffer, offset: number): Frame | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(offset);
  const version = (header >>> 19) & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const isLayer3 = ((header >>> 17) & 3) === 1;
  if (header >>> 21 !== 0x7ff || version === 1 || !isLayer3) return undefined;
  const bitRate = (version === 3 ? bitRates1 : bitRates2)[(header >>> 12) & 15];
  const sampleRate1 = sampleRates1[(header >>> 10) & 3];
  if (!bitRate || sampleRate1 === undefined) return undefined;
  const sampleRate = sampleRate1 / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const samples = version === 3 ? 1152 : 576;
  const padding = (header >>> 9) & 1;
  const isMono = ((header >>> 6) & 3) === 3;
  const sideBytes = version === 3 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const length = Math.floor(((samples / 8) * bitRate * 1000) / sampleRate) + padding;
  return { offset, bytes: length, samples, sampleRate, sideEnd: 4 + sideBytes };
}

/** The place after an ID3v2 tag, or 0. */
function afterTag(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = [6, 7, 8, 9].reduce((sum, place) => (sum << 7) | (bytes.readUInt8(place) & 0x7f), 0);
  return 10 + size;
}

/**
 * All frames in order, a leading Xing or Info frame left out: it describes the file and holds no sound. None is looked for
 * further than `longestGap` behind the last.
 */
function* framesOf(bytes: Buffer, longestGap = Number.POSITIVE_INFINITY): Generator<Frame> {
  let offset = afterTag(bytes);
  let end = offset;
  let isFirst = true;
  while (offset + 4 <= bytes.length && offset - end <= longestGap) {
    const frame = frameAt(bytes, offset);
    if (frame === undefined) {
      offset += 1;
      continue;
    }
    const tag = bytes.toString('latin1', offset + frame.sideEnd, offset + frame.sideEnd + 4);
    if (!isFirst || (tag !== 'Xing' && tag !== 'Info')) yield frame;
    isFirst = false;
    offset += frame.bytes;
    end = offset;
  }
}

/** Any layer's lowest bit rate, 8 kilobits a second: bytes that are no frame may be sound to another reader. */
export const BYTES_PER_SECOND_AT_LEAST = 1000;

/** Throws Untold where a frame of layer I or II may begin: a decoder goes on from there, over what look like frames in it. */
function demandNoOtherLayer(bytes: Buffer, start: number, end: number): void {
  for (let offset = bytes.indexOf(0xff, start); offset >= 0 && offset < end; offset = bytes.indexOf(0xff, offset + 1)) {
    if (offset + 4 > bytes.length) return;
    const header = bytes.readUInt32BE(offset);
    const [version, layer, bitRate] = [(header >>> 19) & 3, (header >>> 17) & 3, (header >>> 12) & 15];
    if (header >>> 21 === 0x7ff && version !== 1 && layer >= 2 && bitRate !== 15) throw new Untold();
  }
}

/**
 * Seconds that a file may play, frame after frame, with what lies between them: of more than `most` no more is read. Throws
 * Untold for other layers.
 */
export function* secondsOfMp3(bytes: Buffer, most: number): Generator<number> {
  const longestGap = most * BYTES_PER_SECOND_AT_LEAST;
  let offset = afterTag(bytes);
  for (const frame of framesOf(bytes, longestGap)) {
    demandNoOtherLayer(bytes, offset, frame.offset);
    yield (frame.offset - offset) / BYTES_PER_SECOND_AT_LEAST + frame.samples / frame.sampleRate;
    offset = frame.offset + frame.bytes;
  }
  demandNoOtherLayer(bytes, offset, Math.min(offset + longestGap, bytes.length));
  yield Math.max(0, bytes.length - offset) / BYTES_PER_SECOND_AT_LEAST;
}

/** Seconds of sound, or undefined when there is no frame. */
export function mp3Duration(bytes: Buffer): number | undefined {
  let seconds = 0;
  for (const frame of framesOf(bytes)) seconds += frame.samples / frame.sampleRate;
  return seconds === 0 ? undefined : seconds;
}

/** The first frames, up to this length in seconds (rounded up to a whole frame, about 26 ms). Tags are left out. */
export function trimMp3(bytes: Buffer, seconds: number): Buffer {
  const kept: Buffer[] = [];
  let length = 0;
  for (const frame of framesOf(bytes)) {
    if (length >= seconds) break;
    kept.push(bytes.subarray(frame.offset, frame.offset + frame.bytes));
    length += frame.samples / frame.sampleRate;
  }
  return Buffer.concat(kept);
}
