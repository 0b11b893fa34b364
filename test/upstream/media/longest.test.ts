/** Files of a real encoder, and the same files made to claim that they are short. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import * as fc from 'fast-check';
import t from 'tap';
import { longestPlay } from '../../../src/upstream/media/playing/longest.ts';

const SECONDS = 12;
const directory = t.testdir();

/** A tone of twelve seconds, encoded so. */
function encoded(name: string, ...options: readonly string[]): Buffer {
  const path = join(directory, name);
  const input = ['-v', 'error', '-f', 'lavfi', '-i', `sine=frequency=440:duration=${SECONDS}`];
  execFileSync(ffmpeg.path, [...input, ...options, path]);
  return readFileSync(path);
}

const picture = ['-f', 'lavfi', '-i', `testsrc=duration=${SECONDS}:size=64x64:rate=10`];
const fragments = ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov'];

const files: Readonly<Record<string, Buffer>> = {
  'MP3 of a low bit rate': encoded('low.mp3', '-ar', '8000', '-b:a', '8k'),
  'MP3 with a tag': encoded('tagged.mp3', '-metadata', 'title=A tone'),
  WAV: encoded('pcm.wav'),
  'WAV of floating point': encoded('float.wav', '-c:a', 'pcm_f32le'),
  FLAC: encoded('lossless.flac'),
  'OGG with Vorbis': encoded('vorbis.ogg', '-c:a', 'libvorbis'),
  'OGG with Opus': encoded('opus.ogg', '-c:a', 'libopus', '-b:a', '6k', '-frame_duration', '60'),
  'WebM with Opus': encoded('opus.webm', '-c:a', 'libopus'),
  'WebM with Vorbis': encoded('vorbis.webm', '-c:a', 'libvorbis'),
  'WebM with a picture': encoded('video.webm', ...picture, '-c:v', 'libvpx', '-c:a', 'libopus'),
  'M4A with AAC': encoded('aac.m4a', '-c:a', 'aac'),
  'M4A in fragments': encoded('fragments.m4a', ...fragments),
  'MP4 with a picture': encoded('video.mp4', ...picture, '-c:v', 'libx264', '-c:a', 'aac'),
  'MP4 with a picture in fragments': encoded('fragments.mp4', ...picture, '-c:v', 'libx264', ...fragments),
};

for (const [kind, bytes] of Object.entries(files)) {
  t.test(`${kind}: as long as it plays, or a little longer`, async (t) => {
    const seconds = longestPlay(bytes, 3600) ?? Number.NaN;
    t.ok(seconds >= SECONDS - 0.05 && seconds < SECONDS * 1.1, `${seconds}`);
    t.ok((longestPlay(bytes, 5) ?? 0) > 5, 'longer than five seconds');
  });
}

/** A copy with these bytes written over every place where `before` stands, at a distance. */
function rewritten(bytes: Buffer, before: string, distance: number, over: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(before, 0, 'latin1'); at >= 0; at = copy.indexOf(before, at + 1, 'latin1')) {
    copy.set(over, at + distance);
  }
  return copy;
}

const named = (kind: string): Buffer => files[kind] ?? Buffer.alloc(0);

/** A second of sound, then another track that is played in its place: called a text, it is sound to decoders all the same. */
function calledText(): Buffer {
  const enabled = ['-disposition:a:0', '0', '-disposition:a:1', 'default'];
  const short = ['-f', 'lavfi', '-i', 'sine=frequency=880:duration=1'];
  const bytes = encoded('two.m4a', ...short, '-map', '1', '-map', '0', '-c:a', 'aac', ...enabled);
  bytes.write('text', bytes.lastIndexOf('soun'), 'latin1');
  return bytes;
}

/** PCM of 8 bits as an extensible format, in which decoders go by the bits that count. */
function extensible(): Buffer {
  const pcm = encoded('bytes.wav', '-c:a', 'pcm_u8', '-bitexact');
  const format = Buffer.alloc(48);
  format.write('fmt (', 'latin1');
  pcm.copy(format, 8, 20, 36);
  format.writeUInt16LE(0xfffe, 8);
  format.writeUInt16LE(0xfff8, 22);
  format.writeUInt16LE(22, 24);
  format.writeUInt16LE(8, 26);
  format.write('0100000000001000800000aa00389b71', 32, 'hex');
  return Buffer.concat([pcm.subarray(0, 12), format, pcm.subarray(36)]);
}

/** Frames of layer II, behind a tag as an MP3 has it, in which there are headers as if of layer III. */
function planted(): Buffer {
  const layer2 = encoded('low.mp2', '-c:a', 'mp2', '-ar', '24000', '-b:a', '8k');
  for (let offset = 24; offset + 4 < layer2.length; offset += 960) layer2.writeUInt32BE(0xfffbe400, offset);
  return Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), layer2]);
}

/** A track of the same number that is a picture, behind the one of sound: readers take the first. */
function twiceNumbered(): Buffer {
  const bytes = encoded('live.webm', '-c:a', 'libopus', '-live', '1');
  const size = bytes.lastIndexOf('1654ae6b', undefined, 'hex') + 4;
  const end = size + 8 + bytes.readUInt32BE(size + 4);
  const picture = Buffer.from('ae86d78101838101', 'hex');
  const grown = Buffer.alloc(8);
  grown.writeBigUInt64BE(bytes.readBigUInt64BE(size) + BigInt(picture.length));
  return Buffer.concat([bytes.subarray(0, size), grown, bytes.subarray(size + 8, end), picture, bytes.subarray(end)]);
}

/** The same in fragments, of which the first alone is told in front. */
function fragmentsOfOneNumber(): Buffer {
  const first = ['-map', '0', '-map', '1', '-c:v', 'libx264', '-g', '10', '-c:a', 'aac', '-movflags', 'frag_keyframe'];
  const bytes = encoded('one.mp4', ...picture, ...first);
  return rewritten(rewritten(bytes, 'tkhd', 16, [0, 0, 0, 1]), 'tfhd', 8, [0, 0, 0, 1]);
}

/** Its table of chunks says one entry more than its box has, which lies in the next. */
function longTable(): Buffer {
  const bytes = Buffer.from(named('M4A with AAC'));
  const table = bytes.indexOf('stsc') + 4;
  const chunks = bytes.indexOf('stco') + 4;
  bytes.writeUInt32BE(0x7fffffff, chunks + 4);
  bytes.writeUInt32BE(bytes.readUInt32BE(table + 4) + 1, table + 4);
  return bytes;
}

t.test('a file that claims to be short is as long as what is in it', async (t) => {
  const none = [0, 0, 0, 0];
  const claims: Record<string, Buffer> = {
    'WAV with an empty data chunk': rewritten(named('WAV'), 'data', 4, none),
    'WAV that claims many bytes a second': rewritten(named('WAV'), 'fmt ', 16, [0, 0, 0, 0x40]),
    'M4A whose header says a second': rewritten(named('M4A with AAC'), 'mvhd', 20, [0, 0, 0x03, 0xe8]),
    'M4A whose frames take no time': rewritten(named('M4A with AAC'), 'stts', 16, none),
    'M4A that says one frame, whose chunks hold more': rewritten(named('M4A with AAC'), 'stsz', 12, [0, 0, 0, 1]),
    'M4A with sound that is called a text': calledText(),
    'WAV of mu-law that claims many bits': rewritten(encoded('law.wav', '-c:a', 'pcm_mulaw'), 'fmt ', 22, [0xf8, 0xff]),
    'WAV whose bits do not all count': extensible(),
    'OGG whose pages say no time': rewritten(named('OGG with Opus'), 'OggS', 6, [...none, ...none]),
    'FLAC that says no samples': rewritten(named('FLAC'), 'fLaC', 22, none),
  };
  for (const [claim, bytes] of Object.entries(claims)) {
    const seconds = longestPlay(bytes, 3600) ?? Number.NaN;
    t.ok(seconds >= SECONDS - 0.05, `${claim}: ${seconds}`);
  }
  const hidden = Buffer.concat([named('MP3 with a tag').subarray(0, 2000), Buffer.alloc(60_000)]);
  t.ok((longestPlay(hidden, 3600) ?? 0) > 60, 'bytes that are no frame are sound of the lowest bit rate');
});

t.test('what does not tell how long it plays has no length', async (t) => {
  const untold: Record<string, Buffer> = {
    'M4A with another codec': encoded('alac.m4a', '-c:a', 'alac'),
    'OGG with another codec': encoded('speex.ogg', '-c:a', 'libspeex', '-ar', '16000'),
    'WAV with another codec': encoded('adpcm.wav', '-c:a', 'adpcm_ima_wav'),
    'WAV with two formats': Buffer.concat([named('WAV').subarray(0, 36), named('WAV').subarray(12)]),
    'Matroska with another codec': encoded('aac.mkv', '-c:a', 'aac'),
    'MPEG layer II': encoded('layer2.mp2', '-c:a', 'mp2'),
    'MPEG layer II that looks like layer III': planted(),
    'an MP4 with two tracks of one number': fragmentsOfOneNumber(),
    'a WebM with two tracks of one number': twiceNumbered(),
    'an OGG with bytes behind it': Buffer.concat([named('OGG with Opus'), Buffer.alloc(100)]),
    'an MP4 whose table goes on behind its box': longTable(),
    'an MP4 of boxes': Buffer.concat([Buffer.from('\0\0\0\x08ftyp', 'latin1'), Buffer.alloc(0)]),
    'FLAC without a frame': named('FLAC').subarray(0, 60),
    'a page': Buffer.from('<html></html>'),
    nothing: Buffer.alloc(0),
  };
  for (const [kind, bytes] of Object.entries(untold)) t.equal(longestPlay(bytes, 3600), undefined, kind);
});

/** As large as a transcript's may be, of these bytes again and again behind a head. */
const again = (head: Buffer, bytes: readonly number[] | Buffer): Buffer =>
  Buffer.concat([head, Buffer.alloc(25 * 1024 * 1024 - head.length, Buffer.from(bytes))]);

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Of as many packets as there are bytes. */
function page(isFirst: boolean, packets: readonly number[], bytes: Buffer): Buffer {
  const head = Buffer.alloc(27);
  head.write('OggS', 'latin1');
  head[5] = isFirst ? 2 : 0;
  head[26] = packets.length;
  return Buffer.concat([head, Buffer.from(packets), bytes]);
}

t.test('a file of nothing that plays is refused, whatever there is to be read in it', async (t) => {
  const webm = Buffer.from('1a45dfa380', 'hex');
  const vorbis = Buffer.alloc(30);
  vorbis.write('\x01vorbis', 'latin1');
  vorbis.writeUInt32LE(48_000, 12);
  const ogg = page(true, [vorbis.length], vorbis);
  const ones = Array<number>(255).fill(1);
  const made: Record<string, Buffer> = {
    'WebM of clusters': again(webm, Buffer.from('1f43b675ff', 'hex')),
    'WebM of empty elements': again(webm, [0x80]),
    'WebM with a track of empty elements': again(Buffer.from('1a45dfa380ae10ffffff', 'hex'), [0x80]),
    'OGG of packets without sound': again(ogg, page(false, ones, Buffer.from(ones))),
    'OGG of empty pages': again(ogg, page(false, [], Buffer.alloc(0))),
    'FLAC of what looks like frames': again(latin1('fLaC\x80\0\0\0'), [0xff, 0xf8, 0x70, 0]),
    'FLAC of empty blocks': again(latin1('fLaC'), [0]),
    'MP3 without a frame': again(latin1('ID3\x03\0\0\0\0\0\0'), [0xff]),
    'WAV of empty chunks': again(latin1('RIFF\0\0\0\0WAVE'), [0]),
  };
  for (const [kind, bytes] of Object.entries(made)) {
    const seconds = longestPlay(bytes, 180);
    t.ok(seconds === undefined || seconds > 180, `${kind} is refused`);
  }
});

t.test('sound is not looked for among thousands of parts without any', (t) => {
  const [wav, flac, webm] = [named('WAV'), named('FLAC'), named('WebM with Opus')];
  const many = (bytes: string) => Buffer.alloc(4_000 * (bytes.length / 2), bytes, 'hex');
  for (const [kind, bytes] of Object.entries({
    'WAV behind empty chunks': Buffer.concat([wav.subarray(0, 12), many('6a756e6b00000000'), wav.subarray(12)]),
    'FLAC behind empty blocks': Buffer.concat([flac.subarray(0, 4), many('01000000'), flac.subarray(4)]),
    'FLAC with what looks like frames': Buffer.concat([flac, many('fff87000')]),
    'WebM with empty elements': Buffer.concat([webm, many('ec80')]),
  })) {
    t.equal(longestPlay(bytes, SECONDS + 3), undefined, kind);
  }
  t.end();
});

t.test('a file that is broken anywhere has a length or none, and never fails', async (t) => {
  const broken = fc
    .tuple(
      fc.constantFrom(...Object.values(files)),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 20 }),
      fc.nat(),
    )
    .map(([bytes, changes, length]) => {
      const copy = Buffer.from(bytes.subarray(0, length % 3 === 0 ? length % bytes.length : bytes.length));
      // Headers lie at the beginning.
      for (const [at, byte] of changes) if (copy.length > 0) copy[at % Math.min(copy.length, 4000)] = byte;
      return copy;
    });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(broken, (bytes) => {
        const seconds = longestPlay(bytes, 60);
        return seconds === undefined || seconds >= 0;
      }),
      { numRuns: 500 },
    ),
  );
});
