/** Packets of sound as OGG and WebM carry them: how long one plays is in its first two bytes. */

/** How a codec's packets play. */
export interface PacketCodec {
  /** Seconds of the packet that begins here. */
  secondsAt(bytes: Buffer, start: number): number;
  /** Of any packet, in seconds. */
  readonly longest: number;
}

/** RFC 6716, 3.1: a frame's length in milliseconds by the packet's first five bits. */
const SILK = [10, 20, 40, 60];
const HYBRID = [10, 20];
const CELT = [2.5, 5, 10, 20];

const frameMs = (config: number): number =>
  (config < 12 ? SILK[config % 4] : config < 16 ? HYBRID[config % 2] : CELT[config % 4]) ?? 0;

/** No packet of Opus is longer, in seconds. */
const LONGEST_OPUS = 0.12;

const opus: PacketCodec = {
  secondsAt(bytes, start) {
    const first = bytes[start] ?? 0;
    const code = first & 3;
    const frames = code === 0 ? 1 : code < 3 ? 2 : (bytes[start + 1] ?? 0) & 63;
    return Math.min((frames * frameMs(first >>> 3)) / 1000, LONGEST_OPUS);
  },
  longest: LONGEST_OPUS,
};

/** Vorbis I, 4.2.2: a packet plays half of the longer block at most. Packets with an odd first byte hold no sound. */
function vorbis(head: Buffer): PacketCodec | undefined {
  const rate = head.readUInt32LE(12);
  const longest = 2 ** (head.readUInt8(28) >>> 4) / 2 / rate;
  if (rate === 0) return undefined;
  return { secondsAt: (bytes, start) => ((bytes[start] ?? 0) % 2 === 1 ? 0 : longest), longest };
}

/** The codec that a stream's first packet names, or undefined where its packets do not tell how long they play. */
export function codecOf(head: Buffer): PacketCodec | undefined {
  if (head.toString('latin1', 0, 8) === 'OpusHead') return opus;
  if (head.length >= 30 && head.toString('latin1', 0, 7) === '\x01vorbis') return vorbis(head);
  return undefined;
}
