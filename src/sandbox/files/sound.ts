import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMp3Encoder } from 'wasm-media-encoders';
import { seeded } from '../doubles/seed.ts';

export interface Sound {
  /** Decides the tune. */
  seed: string;
  seconds: number;
  format: 'mp3' | 'wav';
  /** Samples a second. */
  sampleRate: number;
  /** Of an MP3, in bits a second; 64,000 unless given. */
  bitRate?: number;
}

const NOTE_SECONDS = 0.25;
const SCALE: readonly [number, ...number[]] = [220, 246.94, 277.18, 329.63, 369.99, 440, 493.88, 554.37];
const LOUDNESS = 0.2;

/** One channel of short notes, the same for the same seed. */
export async function makeSound({ seed, seconds, format, sampleRate, bitRate = 64_000 }: Sound): Promise<Buffer> {
  const samples = Math.round(seconds * sampleRate);
  return format === 'mp3' ? await encodeMp3(seed, samples, sampleRate, bitRate) : encodeWav(seed, samples, sampleRate);
}

/** The tune in pieces of a note: a whole song as samples would be large. */
function* tune(seed: string, samples: number, sampleRate: number): Generator<Float32Array> {
  const random = seeded(seed);
  const noteLength = Math.round(NOTE_SECONDS * sampleRate);
  for (let start = 0; start < samples; start += noteLength) {
    const note = new Float32Array(Math.min(noteLength, samples - start));
    const step = (2 * Math.PI * random.pick(SCALE)) / sampleRate;
    for (let index = 0; index < note.length; index += 1) {
      note[index] = LOUDNESS * Math.sin(step * index) * (1 - index / noteLength);
    }
    yield note;
  }
}

/** What MPEG 2.5, MPEG 2 and MPEG 1 allow, in bits a second. */
const largestBitRate = (sampleRate: number): number =>
  sampleRate < 16_000 ? 64_000 : sampleRate < 32_000 ? 160_000 : 320_000;

async function encodeMp3(seed: string, samples: number, sampleRate: number, bitRate: number): Promise<Buffer> {
  const encoder = await createMp3Encoder();
  const bitrate = (Math.min(bitRate, largestBitRate(sampleRate)) / 1000) as 64;
  encoder.configure({ sampleRate, channels: 1, bitrate });
  const pieces: Buffer[] = [];
  for (const note of tune(seed, samples, sampleRate)) {
    pieces.push(Buffer.from(encoder.encode([note])));
    // Encoding is synchronous: give the gateway in the same process its turn.
    if (pieces.length % 8 === 0) await nextTurn();
  }
  pieces.push(Buffer.from(encoder.finalize()));
  return Buffer.concat(pieces);
}

function encodeWav(seed: string, samples: number, sampleRate: number): Buffer {
  const bytes = Buffer.alloc(44 + samples * 2);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22); // channels
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(samples * 2, 40);
  let offset = 44;
  for (const note of tune(seed, samples, sampleRate)) {
    for (const sample of note) offset = bytes.writeInt16LE(Math.round(sample * 0x7fff), offset);
  }
  return bytes;
}
