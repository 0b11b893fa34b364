/** MP4 (ISO 14496-12): the boxes of a file, and how long it says that it plays. */

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What is inside, without its header. */
export interface Box extends Range {
  readonly type: string;
}

/** The boxes one after the other, up to the first that has no size. */
export function* boxesIn(bytes: Buffer, { start, end }: Range): Generator<Box> {
  for (let offset = start; offset + 8 <= end; ) {
    const short = bytes.readUInt32BE(offset);
    const isLong = short === 1 && offset + 16 <= end;
    const size = short === 0 ? end - offset : isLong ? Number(bytes.readBigUInt64BE(offset + 8)) : short;
    if (size < 8) return;
    const type = bytes.toString('latin1', offset + 4, offset + 8);
    yield { type, start: offset + (isLong ? 16 : 8), end: Math.min(offset + size, end) };
    offset += size;
  }
}

function boxIn(bytes: Buffer, range: Range, type: string): Box | undefined {
  for (const box of boxesIn(bytes, range)) if (box.type === type) return box;
  return undefined;
}

/** `mvhd` inside `moov` has the time scale and the duration. In seconds, or undefined where it does not say. */
export function mp4Duration(bytes: Buffer): number | undefined {
  const movie = boxIn(bytes, { start: 0, end: bytes.length }, 'moov');
  const header = movie && boxIn(bytes, movie, 'mvhd');
  if (!header || header.end - header.start < 32) return undefined;
  const isLong = bytes.readUInt8(header.start) === 1;
  const scale = bytes.readUInt32BE(header.start + (isLong ? 20 : 12));
  const duration = isLong ? Number(bytes.readBigUInt64BE(header.start + 24)) : bytes.readUInt32BE(header.start + 16);
  return scale === 0 || duration === 0 ? undefined : duration / scale;
}
