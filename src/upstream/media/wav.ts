/** RIFF WAVE: where the sound lies and how long it is. */
import { Untold } from './playing/untold.ts';

interface Format {
  /** PCM and its like, or another codec. */
  tag: number;
  bytesPerSecond: number;
  blockBytes: number;
  /** Of uncompressed sound, by what a decoder goes by. */
  exactBytesPerSecond: number;
}

interface Wave extends Format {
  dataStart: number;
  dataBytes: number;
}

/** More than any file has before its sound. */
const MOST_CHUNKS = 1000;

function readWave(bytes: Buffer): Wave | undefined {
  let format: Format | undefined;
  let offset = 12;
  for (let chunk = 0; chunk < MOST_CHUNKS && offset + 8 <= bytes.length; chunk++) {
    const id = bytes.toString('latin1', offset, offset + 4);
    const size = bytes.readUInt32LE(offset + 4);
    const start = offset + 8;
    if (id === 'fmt ' && start + 16 <= bytes.length) {
      // Readers differ in which of two they go by.
      if (format) return undefined;
      format = formatAt(bytes, start, size);
    }
    if (id === 'data' && format) {
      // Streamed files claim a size that they do not have.
      return { ...format, dataStart: start, dataBytes: Math.min(size, bytes.length - start) };
    }
    offset = start + size + (size % 2);
  }
  return undefined;
}

/** A-law and mu-law: a byte for each sample, whatever the format says of its bits. */
const COMPANDED: readonly number[] = [6, 7];

/** Extensible formats name their codec further in, and by how many bits decoders go. */
const EXTENSIBLE = 0xfffe;

function formatAt(bytes: Buffer, start: number, size: number): Format {
  const tag = bytes.readUInt16LE(start);
  const isExtensible = tag === EXTENSIBLE && size >= 26 && start + 26 <= bytes.length;
  const codec = isExtensible ? bytes.readUInt16LE(start + 24) : tag;
  const [channels, rate, bits] = [
    bytes.readUInt16LE(start + 2),
    bytes.readUInt32LE(start + 4),
    bytes.readUInt16LE(start + 14),
  ];
  const validBits = (isExtensible && bytes.readUInt16LE(start + 18)) || bits;
  const sampleBits = COMPANDED.includes(codec) ? 8 : Math.min(bits, validBits);
  return {
    tag: codec,
    bytesPerSecond: bytes.readUInt32LE(start + 8),
    blockBytes: bytes.readUInt16LE(start + 12),
    exactBytesPerSecond: channels * rate * Math.ceil(sampleBits / 8),
  };
}

/** PCM, floating point, A-law and mu-law: as many bytes for each sample. */
const UNCOMPRESSED: readonly number[] = [1, 3, ...COMPANDED];

/** Seconds that a file may play, whatever it says of its length. Throws Untold for another codec. */
export function* secondsOfWav(bytes: Buffer): Generator<number> {
  const wave = readWave(bytes);
  if (!wave || !UNCOMPRESSED.includes(wave.tag) || wave.exactBytesPerSecond === 0) throw new Untold();
  yield (bytes.length - wave.dataStart) / wave.exactBytesPerSecond;
}

/** Seconds of sound, or undefined when the file has no format or no data. */
export function wavDuration(bytes: Buffer): number | undefined {
  const wave = readWave(bytes);
  return wave === undefined || wave.bytesPerSecond === 0 ? undefined : wave.dataBytes / wave.bytesPerSecond;
}

/** The first so many seconds, as a file of its own. Unchanged when it is not longer or cannot be read. */
export function trimWav(bytes: Buffer, seconds: number): Buffer {
  const wave = readWave(bytes);
  if (wave === undefined || wave.blockBytes === 0) return bytes;
  const blocks = Math.ceil((seconds * wave.bytesPerSecond) / wave.blockBytes);
  const length = blocks * wave.blockBytes;
  if (length >= wave.dataBytes) return bytes;
  const cut = Buffer.from(bytes.subarray(0, wave.dataStart + length));
  cut.writeUInt32LE(cut.length - 8, 4);
  cut.writeUInt32LE(length, wave.dataStart - 4);
  return cut;
}
