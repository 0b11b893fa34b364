/** RIFF WAVE: where the sound lies and how long it is. */

interface Wave {
  bytesPerSecond: number;
  blockBytes: number;
  dataStart: number;
  dataBytes: number;
}

function readWave(bytes: Buffer): Wave | undefined {
  let format: { bytesPerSecond: number; blockBytes: number } | undefined;
  for (let offset = 12; offset + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', offset, offset + 4);
    const size = bytes.readUInt32LE(offset + 4);
    const start = offset + 8;
    if (id === 'fmt ' && start + 16 <= bytes.length) {
      format = { bytesPerSecond: bytes.readUInt32LE(start + 8), blockBytes: bytes.readUInt16LE(start + 12) };
    }
    if (id === 'data' && format) {
      // Streamed files claim a size that they do not have.
      return { ...format, dataStart: start, dataBytes: Math.min(size, bytes.length - start) };
    }
    offset = start + size + (size % 2);
  }
  return undefined;
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
