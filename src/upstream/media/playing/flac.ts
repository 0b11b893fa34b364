/** FLAC (RFC 9639): every frame counts, whatever the file says of its samples. */
import { Untold } from './untold.ts';

const SYNC = 0xff;
/** With blocks of one size, or of several. */
const SECOND = [0xf8, 0xf9];
const LARGEST_HEADER = 16;

const sampleRates = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** CRC-8 with the polynomial x^8 + x^2 + x + 1. */
const crcs = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
  return crc;
});

/** More than any file has before its frames. */
const MOST_BLOCKS = 1000;

/** Where the frames begin, and the samples a second of those that do not say their own. */
function readHead(bytes: Buffer): { start: number; rate: number } | undefined {
  let rate = 0;
  let offset = 4;
  for (let block = 0; block < MOST_BLOCKS && offset + 4 <= bytes.length; block++) {
    const kind = bytes.readUInt8(offset);
    const next = offset + 4 + bytes.readUIntBE(offset + 1, 3);
    if ((kind & 0x7f) === 0 && offset + 17 <= bytes.length) rate = bytes.readUIntBE(offset + 14, 3) >>> 4;
    offset = next;
    if (kind & 0x80) return { start: offset, rate };
  }
  return undefined;
}

/** How many bytes the number of a frame takes. */
const numberBytes = (first: number): number => (first < 0x80 ? 1 : Math.clz32(~(first << 24)));

/** Seconds of the frame whose header is here, or undefined where there is none. */
function frameAt(bytes: Buffer, offset: number, usualRate: number): number | undefined {
  if (offset + LARGEST_HEADER > bytes.length) return undefined;
  const codes = bytes.readUInt8(offset + 2);
  const [blockCode, rateCode] = [codes >>> 4, codes & 15];
  if (blockCode === 0 || rateCode === 15 || bytes.readUInt8(offset + 3) & 1) return undefined;
  const afterNumber = offset + 4 + numberBytes(bytes.readUInt8(offset + 4));
  const blockBytes = blockCode === 6 ? 1 : blockCode === 7 ? 2 : 0;
  const afterBlock = afterNumber + blockBytes;
  const end = afterBlock + (rateCode < 12 ? 0 : rateCode === 12 ? 1 : 2);
  let crc = 0;
  for (let index = offset; index < end; index++) crc = crcs[crc ^ (bytes[index] ?? 0)] ?? 0;
  if (crc !== bytes[end]) return undefined;
  const samples =
    blockBytes > 0
      ? bytes.readUIntBE(afterNumber, blockBytes) + 1
      : blockCode === 1
        ? 192
        : blockCode < 6
          ? 144 << blockCode
          : 1 << blockCode;
  const rate =
    rateCode === 0
      ? usualRate
      : rateCode < 12
        ? (sampleRates[rateCode] ?? 0)
        : rateCode === 12
          ? bytes.readUInt8(afterBlock) * 1000
          : bytes.readUInt16BE(afterBlock) * (rateCode === 13 ? 1 : 10);
  return samples / rate;
}

/** Seconds, frame after frame, wherever one may begin. Throws Untold where none can. */
export function* secondsOfFlac(bytes: Buffer): Generator<number> {
  const head = readHead(bytes);
  if (head === undefined) throw new Untold();
  for (let offset = head.start; offset < bytes.length; offset++) {
    if (bytes[offset] !== SYNC || !SECOND.includes(bytes[offset + 1] ?? 0)) continue;
    yield frameAt(bytes, offset, head.rate) ?? 0;
  }
}
