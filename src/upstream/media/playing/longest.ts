/**
 * How long a stranger's file may play, counted from the sound that is in it: what a header claims is the stranger's
 * word, and providers bill by the second that they hear. Nothing is decoded.
 */
import { secondsOfMp3 } from '../mp3.ts';
import { sniffMediaType } from '../type.ts';
import { secondsOfWav } from '../wav.ts';
import { secondsOfFlac } from './flac.ts';
import { secondsOfMp4 } from './mp4.ts';
import { secondsOfOgg } from './ogg.ts';
import { Untold } from './untold.ts';
import { secondsOfWebm } from './webm.ts';

/**
 * By a file's type: its seconds, part after part, and of a part without sound none. Nothing in between takes long to read. They
 * throw Untold.
 */
const readers: Readonly<Record<string, (bytes: Buffer, most: number) => Iterable<number>>> = {
  'audio/mpeg': secondsOfMp3,
  'audio/wav': secondsOfWav,
  'audio/flac': secondsOfFlac,
  'audio/ogg': secondsOfOgg,
  'audio/mp4': secondsOfMp4,
  'video/mp4': secondsOfMp4,
  'video/webm': secondsOfWebm,
};

/** Parts without sound for each second: more than a film has pictures. A file of nothing else would keep everybody waiting. */
const MOST_SILENT = 200;

/**
 * Seconds that a decoder gets out of the file at most, undefined where it does not tell. Once they are over `most` the
 * rest is not counted.
 */
export function longestPlay(bytes: Buffer, most: number): number | undefined {
  const read = readers[sniffMediaType(bytes)?.type ?? ''];
  if (read === undefined) return undefined;
  let seconds = 0;
  let silent = 0;
  try {
    for (const part of read(bytes, most)) {
      seconds += part;
      if (seconds > most) break;
      if (part === 0) silent += 1;
      if (silent > MOST_SILENT * most) return undefined;
    }
  } catch (error) {
    if (error instanceof Untold) return undefined;
    throw error;
  }
  return seconds > 0 ? seconds : undefined;
}
