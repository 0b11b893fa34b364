/** Where generated files live, so that a paid result does not expire with the provider's copy. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Downloader, DownloadOptions } from '../http/download.ts';
import { pause, retryDelay } from '../http/retry.ts';
import { UpstreamProblem } from '../problem.ts';
import { base64In } from './data-url.ts';
import { type MediaKind, sniffMediaType } from './type.ts';

export interface StoredMedia {
  /** Public and absolute. */
  url: string;
  /** MIME type, read from the bytes. */
  type: string;
  bytes: Buffer;
}

/** A full disk, a bucket that does not answer: the gateway's own trouble, which passes. */
export class MediaNotStored extends Error {
  constructor(cause: unknown) {
    super(`a file could not be stored: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'MediaNotStored';
  }
}

export interface MediaStore {
  /**
   * Stores the bytes under a name made of their hash. Throws UpstreamProblem `malformed` when they are not of that kind (`any`: of none),
   * and MediaNotStored.
   */
  put(bytes: Buffer, kind: MediaKind | 'any', upstream?: string): Promise<StoredMedia>;
  /** Copies a file that an upstream handed out, by its address or in a data URL. Throws UpstreamProblem and MediaNotStored. */
  copy(url: string, kind: MediaKind | 'any', options: { upstream: string; signal: AbortSignal }): Promise<StoredMedia>;
}

/** Where the bytes go: a directory, a bucket. Writing the same name again is harmless, its bytes are the same. */
interface MediaShelf {
  write(name: string, bytes: Buffer, type: string): Promise<void>;
}

/** Milliseconds between the tries to store a file. */
const PAUSES = [100, 300, 900, 2_700];
/** What takes so many to fail is not tried again: the call would come to its deadline, and what was made for it be lost. */
const MOST_TRYING_MS = 15_000;

/** For as long nothing may come of what a provider made: its connection may be lost, and the next still be in time. Twice as long each time. */
const SILENT_MS = 15_000;

const LARGEST_COPY: Readonly<Record<MediaKind | 'any', number>> = {
  image: 40 * 1024 * 1024,
  audio: 80 * 1024 * 1024,
  video: 300 * 1024 * 1024,
  document: 40 * 1024 * 1024,
  any: 300 * 1024 * 1024,
};

/** `publicUrl` is the address that names are appended to: `https://media.example.com` or `https://api.example.com/media`. */
export function openMediaStore(options: { shelf: MediaShelf; publicUrl: string; downloads: Downloader }): MediaStore {
  const { shelf, downloads } = options;
  const publicUrl = options.publicUrl.replace(/\/$/, '');

  async function store(bytes: Buffer, kind: MediaKind | 'any', upstream: string): Promise<StoredMedia> {
    const found = sniffMediaType(bytes);
    if (found === undefined || (kind !== 'any' && found.kind !== kind)) {
      const what = found?.type ?? `${bytes.length} bytes of an unknown type`;
      throw new UpstreamProblem(
        'malformed',
        upstream,
        `${what} where ${kind === 'any' ? 'a picture, sound, video or PDF' : `the kind ${kind}`} was expected`,
      );
    }
    const name = `${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.${found.extension}`;
    await write(name, bytes, found.type);
    return { url: `${publicUrl}/${name}`, type: found.type, bytes };
  }

  async function write(name: string, bytes: Buffer, type: string): Promise<void> {
    const from = performance.now();
    for (const pause of PAUSES) {
      try {
        return await shelf.write(name, bytes, type);
      } catch (error) {
        if (performance.now() - from > MOST_TRYING_MS) throw new MediaNotStored(error);
        await delay(pause);
      }
    }
    await shelf.write(name, bytes, type).catch((error: unknown) => {
      throw new MediaNotStored(error);
    });
  }

  /** What the file is of has been paid for: a server that fails once is asked again. */
  async function downloadPatiently(url: string, options: DownloadOptions): Promise<Buffer> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await downloads.download(url, { ...options, silentMs: SILENT_MS * 2 ** attempt });
      } catch (problem) {
        const hasFailed = problem instanceof UpstreamProblem && problem.failure === 'failed';
        const pauseMs = hasFailed ? retryDelay(attempt, undefined) : undefined;
        if (pauseMs === undefined || options.signal.aborted) throw problem;
        await pause(pauseMs, options.signal).catch(() => {
          throw problem;
        });
      }
    }
  }

  return {
    put: (bytes, kind, upstream = 'media store') => store(bytes, kind, upstream),
    async copy(url, kind, { upstream, signal }) {
      const base64 = base64In(url);
      if (base64 !== undefined) return await store(Buffer.from(base64, 'base64'), kind, upstream);
      const options = { upstream, givenBy: 'provider', signal, maxBytes: LARGEST_COPY[kind] } as const;
      return await store(await downloadPatiently(url, options), kind, upstream);
    },
  };
}
