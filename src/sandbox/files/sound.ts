import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMp3Encoder } from 'wasm-media-encoders';
import { seeded } from '../../examples/seed.ts';

export const kilobitRates = [32, 64, 96, 128, 192] as const;
type Kilobits = (typeof kilobitRates)[number];

export interface Sound {
  /** Decides the tune. */
  seed: string;
  seconds: number;
  format: 'mp3' | 'wav';
  /** Samples a second. */
  sampleRate: number;
  /** Of an MP3, in kilobits a second; 64 unless given. */
  kilobits?: Kilobits;
}

const NOTE_SECONDS = 0.25;
const SCALE: readonly [number, ...number[]] = [220, 246.94, 277.18, 329.63, 369.99, 440, 493.88, 554.37];
const LOUDNESS = 0.2;

/** One channel of short notes, the same for the same seed. */
export async function makeSound({ seed, seconds, format, sampleRate, kilobits = 64 }: Sound): Promise<Buffer> {
  const samples = Math.round(seconds * sampleRate);
  return format === 'mp3' ? await encodeMp3(seed, samples, sampleRate, kilobits) : encodeWav(seed, samples, sampleRate);
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

/** MPEG 2.5, which low sample rates take, goes up to 64, and MPEG 2 up to 160. */
function allowedBitrate(kilobits: Kilobits, sampleRate: number) {
  if (sampleRate < 16_000 && kilobits > 64) return 64;
  return sampleRate < 32_000 && kilobits > 160 ? 160 : kilobits;
}

async function encodeMp3(seed: string, samples: number, sampleRate: number, kilobits: Kilobits): Promise<Buffer> {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels: 1, bitrate: allowedBitrate(kilobits, sampleRate) });
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
