export type MediaKind = 'image' | 'video' | 'audio' | 'document';

interface MediaType {
  kind: MediaKind;
  type: string;
  extension: string;
}

interface Signature extends MediaType {
  matches(bytes: Buffer): boolean;
}

const ascii = (bytes: Buffer, start: number, end: number): string => bytes.toString('latin1', start, end);

/** The brand of a file of ISO 14496-12, which tells pictures and sound from films. */
const brandOf = (bytes: Buffer): string | undefined =>
  ascii(bytes, 4, 8) === 'ftyp' ? ascii(bytes, 8, 12) : undefined;

/** Pictures of whatever codec, by ISO 23008-12: which one it is, the brands say that follow. */
const ANY_PICTURE = /^m[is]f1$/;

/** Far more than files have, which name a handful: a size that a stranger made up must not have all of a file searched. */
const BRANDS_BYTES = 256;

const hasBrand = (bytes: Buffer, brand: string): boolean =>
  ascii(bytes, 16, Math.min(bytes.readUInt32BE(0), BRANDS_BYTES))
    .match(/.{4}/gs)
    ?.includes(brand) ?? false;

const signatures: readonly Signature[] = [
  {
    kind: 'image',
    type: 'image/png',
    extension: 'png',
    matches: (bytes) => bytes.length > 24 && ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n',
  },
  {
    kind: 'image',
    type: 'image/jpeg',
    extension: 'jpg',
    matches: (bytes) => bytes.length > 4 && bytes.readUIntBE(0, 3) === 0xffd8ff,
  },
  {
    kind: 'image',
    type: 'image/webp',
    extension: 'webp',
    matches: (bytes) => ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP',
  },
  {
    kind: 'image',
    type: 'image/gif',
    extension: 'gif',
    matches: (bytes) => /^GIF8[79]a$/.test(ascii(bytes, 0, 6)),
  },
  {
    kind: 'image',
    type: 'image/avif',
    extension: 'avif',
    matches: (bytes) => {
      const brand = brandOf(bytes) ?? '';
      return /^avi[fs]$/.test(brand) || (ANY_PICTURE.test(brand) && hasBrand(bytes, 'avif'));
    },
  },
  {
    kind: 'image',
    type: 'image/heic',
    extension: 'heic',
    matches: (bytes) => {
      const brand = brandOf(bytes) ?? '';
      return /^he[iv][cmsx]$/.test(brand) || ANY_PICTURE.test(brand);
    },
  },
  {
    kind: 'audio',
    type: 'audio/mp4',
    extension: 'm4a',
    matches: (bytes) => /^M4[AB] $/.test(brandOf(bytes) ?? ''),
  },
  {
    kind: 'video',
    type: 'video/mp4',
    extension: 'mp4',
    matches: (bytes) => brandOf(bytes) !== undefined,
  },
  {
    kind: 'video',
    type: 'video/webm',
    extension: 'webm',
    matches: (bytes) => bytes.length > 4 && bytes.readUInt32BE(0) === 0x1a45dfa3,
  },
  {
    kind: 'audio',
    type: 'audio/wav',
    extension: 'wav',
    matches: (bytes) => ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WAVE',
  },
  {
    kind: 'audio',
    type: 'audio/mpeg',
    extension: 'mp3',
    // An ID3 tag, or a frame's eleven sync bits with layer III and a bit rate.
    matches: (bytes) =>
      ascii(bytes, 0, 3) === 'ID3' ||
      (bytes.length > 4 && (bytes.readUInt16BE(0) & 0xffe6) === 0xffe2 && (bytes.readUInt8(2) & 0xf0) !== 0xf0),
  },
  {
    kind: 'audio',
    type: 'audio/flac',
    extension: 'flac',
    matches: (bytes) => ascii(bytes, 0, 4) === 'fLaC',
  },
  {
    kind: 'audio',
    type: 'audio/ogg',
    extension: 'ogg',
    matches: (bytes) => ascii(bytes, 0, 4) === 'OggS',
  },
  {
    kind: 'document',
    type: 'application/pdf',
    extension: 'pdf',
    matches: (bytes) => ascii(bytes, 0, 5) === '%PDF-',
  },
];

/** What the bytes are, whatever a server called them: the formats above. Undefined for anything else. */
export function sniffMediaType(bytes: Buffer): MediaType | undefined {
  const found = signatures.find((signature) => signature.matches(bytes));
  return found && { kind: found.kind, type: found.type, extension: found.extension };
}

/** MIME type of a stored file's extension, or undefined. */
export const typeOfExtension = (extension: string): string | undefined =>
  signatures.find((signature) => signature.extension === extension)?.type;
