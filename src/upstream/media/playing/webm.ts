/** WebM (RFC 8794, 9559) with Opus or Vorbis: every block of sound counts, whatever the file says of the time. */
import { BYTES_PER_SECOND_AT_LEAST } from '../mp3.ts';
import { codecOf, type PacketCodec } from './packet.ts';
import { Untold } from './untold.ts';

const ID = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** Their parts are read in turn: a recorder leaves their sizes open. */
const ENTERED: ReadonlySet<number> = new Set([ID.segment, ID.cluster, ID.tracks, ID.blockGroup]);
const SOUND = 2;
const LACED = 6;

interface Element {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** A number whose first byte says by its highest bit how many there are; undefined where there are more than `most`. */
function numberAt(bytes: Buffer, offset: number, most: number): { value: number; bytes: number } | undefined {
  const first = bytes[offset] ?? 0;
  const count = Math.clz32(first) - 23;
  if (count > most || offset + count > bytes.length) return undefined;
  let value = first - 2 ** (8 - count);
  for (let index = 1; index < count; index++) value = value * 256 + (bytes[offset + index] ?? 0);
  return { value, bytes: count };
}

/** The element here; undefined where there is none, or it is longer than the file. */
function elementAt(bytes: Buffer, offset: number): Element | undefined {
  const name = numberAt(bytes, offset, 4);
  const size = name && numberAt(bytes, offset + name.bytes, 8);
  if (!name || !size) return undefined;
  const id = bytes.readUIntBE(offset, name.bytes);
  const start = offset + name.bytes + size.bytes;
  const end = ENTERED.has(id) ? start : start + size.value;
  return end > bytes.length ? undefined : { id, start, end };
}

const TOLD_ONCE: ReadonlySet<number> = new Set([ID.trackNumber, ID.trackType, ID.codecPrivate]);

/** More than are known of a track. */
const MOST_PARTS = 100;

/** Throws Untold where one that counts is there twice: readers differ in which they take. */
function partsOf(bytes: Buffer, { start, end }: Element): Map<number, Buffer> {
  const parts = new Map<number, Buffer>();
  let count = 0;
  for (let offset = start; offset < end; ) {
    const part = elementAt(bytes, offset);
    count += 1;
    if (!part || count > MOST_PARTS || (TOLD_ONCE.has(part.id) && parts.has(part.id))) throw new Untold();
    parts.set(part.id, bytes.subarray(part.start, part.end));
    offset = part.end;
  }
  return parts;
}

/** WebM keeps the three first packets of Vorbis together, their lengths in front. */
function firstPacket(kept: Buffer): Buffer {
  if (kept[0] !== 2) return kept;
  let offset = 2;
  while (kept[offset] === 255) offset += 1;
  return kept.subarray(offset + 1);
}

/** How a track's blocks play; undefined where they do not tell, 'silent' where they are no sound. */
function codecOfTrack(parts: ReadonlyMap<number, Buffer>): PacketCodec | 'silent' | undefined {
  const type = parts.get(ID.trackType);
  if (type !== undefined && type.length === 1 && type[0] !== SOUND) return 'silent';
  return parts.has(ID.contentEncodings)
    ? undefined
    : codecOf(firstPacket(parts.get(ID.codecPrivate) ?? Buffer.alloc(0)));
}

/** Seconds, block after block. Throws Untold for another codec, and where an element does not lie in the file. */
export function* secondsOfWebm(bytes: Buffer): Generator<number> {
  const codecs = new Map<number, PacketCodec | 'silent' | undefined>();
  for (let offset = 0; offset < bytes.length; ) {
    const element = elementAt(bytes, offset);
    if (!element) throw new Untold();
    offset = element.end;
    if (element.id === ID.track) {
      const parts = partsOf(bytes, element);
      const number = parts.get(ID.trackNumber);
      if (number?.length !== 1 || codecs.has(number.readUInt8())) throw new Untold();
      codecs.set(number.readUInt8(), codecOfTrack(parts));
    } else if (element.id === ID.block || element.id === ID.simpleBlock) {
      yield secondsOfBlock(bytes, element, codecs);
    } else {
      // A decoder may find sound where there should be none.
      yield (element.end - element.start) / BYTES_PER_SECOND_AT_LEAST;
    }
  }
}

/** The track's number, two bytes of time, and a byte that says whether there are several packets. */
function secondsOfBlock(
  bytes: Buffer,
  { start }: Element,
  codecs: ReadonlyMap<number, PacketCodec | 'silent' | undefined>,
): number {
  const track = numberAt(bytes, start, 1);
  const codec = track && codecs.get(track.value);
  if (!codec) throw new Untold();
  if (codec === 'silent') return 0;
  const isLaced = ((bytes[start + 3] ?? 0) & LACED) !== 0;
  return isLaced ? ((bytes[start + 4] ?? 0) + 1) * codec.longest : codec.secondsAt(bytes, start + 4);
}
