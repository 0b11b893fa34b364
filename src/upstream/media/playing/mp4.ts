/** MP4 (ISO 14496-12) with AAC: every frame of sound counts, whatever the file says of the time. */
import { type Box, boxesIn, type Range } from '../mp4.ts';
import { Untold } from './untold.ts';

/** ISO 14496-3: samples of a frame, at the rate of the core. */
const SAMPLES = 1024;
const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
];
/** Low complexity, and the two that double its rate: each frame lasts as long. */
const OBJECT_TYPES: readonly number[] = [2, 5, 29];
const AAC = 0x40;

/** What a track holds that is neither picture nor sound: captions, time codes, what a camera notes. */
const SILENT: ReadonlySet<string> = new Set([
  ...['text', 'tx3g', 'stpp', 'wvtt', 'sbtt', 'c608', 'c708', 'tmcd'],
  ...['mett', 'metx', 'mebx', 'urim', 'rtmd', 'gpmd', 'camm'],
]);

/** More than a recording of hours has that is cut into seconds. */
const MOST_BOXES = 100_000;

interface File {
  readonly bytes: Buffer;
  boxesIn(range: Range): Generator<Box>;
}

function openFile(bytes: Buffer): File {
  let count = 0;
  return {
    bytes,
    *boxesIn(range) {
      for (const box of boxesIn(bytes, range)) {
        count += 1;
        if (count > MOST_BOXES) throw new Untold();
        yield box;
      }
    },
  };
}

/** The one box of its type at each step; undefined where there is none. Throws Untold where there are several. */
function boxAt(file: File, parent: Range, ...path: readonly string[]): Range | undefined {
  let found: Range | undefined = parent;
  for (const type of path) {
    if (found === undefined) return undefined;
    const boxes: Box[] = [];
    for (const box of file.boxesIn(found)) if (box.type === type) boxes.push(box);
    if (boxes.length > 1) throw new Untold();
    found = boxes[0];
  }
  return found;
}

function numberAt({ bytes }: File, offset: number | undefined): number {
  if (offset === undefined || offset + 4 > bytes.length) throw new Untold();
  return bytes.readUInt32BE(offset);
}

/** Seconds of a file's frames, track by track and fragment by fragment. Throws Untold for another codec. */
export function* secondsOfMp4(bytes: Buffer): Generator<number> {
  const file = openFile(bytes);
  const whole = { start: 0, end: bytes.length };
  const movie = boxAt(file, whole, 'moov');
  if (movie === undefined) throw new Untold();
  /** Of a frame, by the track. */
  const frames = new Map<number, number>();
  for (const track of file.boxesIn(movie)) {
    if (track.type !== 'trak') continue;
    const seconds = frameSeconds(file, track);
    const id = trackId(file, track);
    // Decoders differ in which of two a fragment belongs to.
    if (frames.has(id)) throw new Untold();
    frames.set(id, seconds);
    if (seconds > 0) yield seconds * framesOf(file, track);
  }
  for (const fragment of file.boxesIn(whole)) {
    if (fragment.type === 'moof') yield* secondsOfFragment(file, fragment, frames);
  }
}

function* secondsOfFragment(file: File, fragment: Box, frames: ReadonlyMap<number, number>): Generator<number> {
  for (const track of file.boxesIn(fragment)) {
    if (track.type !== 'traf') continue;
    const seconds = frames.get(numberAt(file, afterFlags(boxAt(file, track, 'tfhd'))));
    if (seconds === undefined) throw new Untold();
    for (const run of file.boxesIn(track)) {
      if (run.type === 'trun') yield seconds * numberAt(file, afterFlags(run));
    }
  }
}

/** Boxes begin with a version and three bytes of flags. */
const afterFlags = (box: Range | undefined, further = 0): number | undefined => box && box.start + 4 + further;

/** Behind two times, of four bytes or of eight. */
function trackId(file: File, track: Box): number {
  const head = boxAt(file, track, 'tkhd');
  return numberAt(file, afterFlags(head, head && file.bytes[head.start] === 1 ? 16 : 8));
}

/** As many as the track says, or as its chunks hold where those are more: decoders go by either. */
function framesOf(file: File, track: Box): number {
  const table = boxAt(file, track, 'mdia', 'minf', 'stbl');
  const [sizes, runs, short, long] = ['stsz', 'stsc', 'stco', 'co64'].map((type) => table && boxAt(file, table, type));
  if (short && long) throw new Untold();
  const chunks = numberAt(file, afterFlags(short ?? long));
  const runCount = numberAt(file, afterFlags(runs));
  // What is read once is not read again, however many tracks there are.
  if (runs && runs.start + 8 + runCount * 12 > runs.end) throw new Untold();
  let inChunks = 0;
  for (let run = 0; run < runCount; run++) {
    const first = run === 0 ? 1 : numberAt(file, afterFlags(runs, 4 + run * 12));
    const next = run + 1 < runCount ? numberAt(file, afterFlags(runs, 16 + run * 12)) : chunks + 1;
    if (next <= first) throw new Untold();
    inChunks += (next - first) * numberAt(file, afterFlags(runs, 8 + run * 12));
  }
  return Math.max(inChunks, numberAt(file, afterFlags(sizes, 4)));
}

/**
 * Of each frame of a track; 0 where it holds no sound. What its entry says counts: decoders find sound in tracks that a
 * handler calls a text.
 */
function frameSeconds(file: File, track: Box): number {
  const { bytes } = file;
  const handler = boxAt(file, track, 'mdia', 'hdlr');
  if (handler && bytes.toString('latin1', handler.start + 8, handler.start + 12) === 'vide') return 0;
  const described = boxAt(file, track, 'mdia', 'minf', 'stbl', 'stsd');
  if (!described || numberAt(file, afterFlags(described)) !== 1) throw new Untold();
  const [entry] = file.boxesIn({ start: described.start + 8, end: described.end });
  if (entry && SILENT.has(entry.type)) return 0;
  if (entry?.type !== 'mp4a') throw new Untold();
  const config = boxAt(file, { start: entry.start + 28, end: entry.end }, 'esds');
  return SAMPLES / coreRate(bytes.subarray(afterFlags(config) ?? bytes.length, config?.end));
}

/** ISO 14496-1, 7.2.6: descriptors inside one another. Samples a second. */
function coreRate(descriptors: Buffer): number {
  // A stream's number and three flags, none of which is set in a file.
  const stream = insideOf(descriptors, 3).subarray(3);
  const decoder = insideOf(stream, 4);
  const config = insideOf(decoder.subarray(13), 5);
  if (decoder[0] !== AAC || config.length < 2) throw new Untold();
  const bits = config.readUInt16BE(0);
  const rate = OBJECT_TYPES.includes(bits >>> 11) ? sampleRates[(bits >>> 7) & 15] : undefined;
  if (rate === undefined) throw new Untold();
  return rate;
}

/** What a descriptor with this tag holds: its size has seven bits a byte. */
function insideOf(bytes: Buffer, tag: number): Buffer {
  if (bytes[0] !== tag) throw new Untold();
  let size = 0;
  let offset = 1;
  for (let more = true; more && offset < 5; offset++) {
    const byte = bytes[offset] ?? 0;
    size = size * 128 + (byte & 0x7f);
    more = byte >= 0x80;
  }
  return bytes.subarray(offset, offset + size);
}
