/** OGG (RFC 3533) with Opus or Vorbis: every packet counts, whatever the pages say of the time. */
import { codecOf, type PacketCodec } from './packet.ts';
import { Untold } from './untold.ts';

interface Stream {
  readonly codec: PacketCodec;
  /** The page before ended inside a packet. */
  isOpen: boolean;
}

const HEADER_BYTES = 27;
const FIRST_PAGE = 2;

/** Seconds, packet after packet. Throws Untold for another codec, and for bytes that belong to no page. */
export function* secondsOfOgg(bytes: Buffer): Generator<number> {
  const streams = new Map<number, Stream>();
  for (let offset = 0; offset < bytes.length; ) {
    if (offset + HEADER_BYTES > bytes.length || bytes.toString('latin1', offset, offset + 4) !== 'OggS') {
      throw new Untold();
    }
    const serial = bytes.readUInt32LE(offset + 14);
    const laces = bytes.subarray(offset + HEADER_BYTES, offset + HEADER_BYTES + bytes.readUInt8(offset + 26));
    let start = offset + HEADER_BYTES + laces.length;
    if (bytes.readUInt8(offset + 5) & FIRST_PAGE) {
      const codec = codecOf(bytes.subarray(start));
      if (codec) streams.set(serial, { codec, isOpen: false });
      else streams.delete(serial);
    }
    const stream = streams.get(serial);
    if (stream === undefined) throw new Untold();
    if (laces.length === 0) yield 0;
    for (const lace of laces) {
      if (!stream.isOpen) yield stream.codec.secondsAt(bytes, start);
      stream.isOpen = lace === 255;
      start += lace;
    }
    offset = start;
  }
}
