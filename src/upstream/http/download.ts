/** Reads files at addresses that strangers choose: callers' references and what providers hand out. */
import { Agent } from 'undici';
import { connect } from '../../outgoing/connect.ts';
import { TimeLimit } from '../../outgoing/time-limit.ts';
import { isTimeout } from '../../timing.ts';
import { UpstreamProblem } from '../problem.ts';
import { readBounded } from './bounded-body.ts';
import { openGate } from './concurrency.ts';
import { AllowanceSpent, openDownloadAllowance } from './download-allowance.ts';
import { AddressRefused, guardedLookup, type Resolve, resolveAll, urlRefusal } from './public-url.ts';

export interface DownloadOptions {
  /** For whom: names the upstream in problems and logs. */
  upstream: string;
  /** A caller may read what is wrong with its address (`invalid-input`); a provider's bad address is `malformed` or `failed`. */
  givenBy: 'caller' | 'provider';
  /** Who pays, where the file is a caller's: how much is read for one caller is bounded. */
  caller?: string;
  signal: AbortSignal;
  maxBytes: number;
  /** Default: one minute, and half of it for a caller's file. */
  timeoutMs?: number;
  /** How long nothing may come, in milliseconds. Default: as long as the rest allows. */
  silentMs?: number;
}

export interface Downloader {
  /** The file's bytes. Throws UpstreamProblem; its `publicMessage` names no address. */
  download(url: string, options: DownloadOptions): Promise<Buffer>;
  close(): Promise<void>;
}

export interface DownloaderOptions {
  /** Of an upstream: what it hands out there needs neither https nor a public address. */
  originOf?(upstream: string): string | undefined;
  /** The same for all upstreams. */
  trustedOrigins: readonly string[];
  resolve?: Resolve;
  /** Where an address that the guard let through is read instead: the sandbox, which has no internet, brings its own. */
  readFrom?(url: URL, options: Pick<DownloadOptions, 'upstream' | 'givenBy'>): URL | undefined;
}

const MOST_REDIRECTS = 3;
const DEFAULT_TIMEOUT_MS = { provider: 60_000, caller: 30_000 };

/** What callers name is read before anything is paid: four of the largest files at a time and a few in a minute. */
const ALLOWANCE = { mostAtOnce: 4, bytesPerMinute: 134_217_728 };

/** Files of all callers that are read, and held in memory, at a time. */
const CONCURRENCY = 16;

export function openDownloader(given: DownloaderOptions): Downloader {
  const { originOf, trustedOrigins, resolve = resolveAll, readFrom } = given;
  const trusted: ReadonlySet<string> = new Set(trustedOrigins.map((origin) => new URL(origin).origin));
  const open = new Agent({ connect });
  // The addresses are checked where the connection is made, and that connection goes to a checked address: a name that
  // answers differently the second time gains nothing.
  const guarded = new Agent({ connect: { lookup: guardedLookup(resolve) } });

  const allowance = openDownloadAllowance({ ...ALLOWANCE, now: () => performance.now() });
  const gate = openGate({ concurrency: CONCURRENCY, spacingMs: 0 });

  function isOwn(upstream: string, url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { origin } = new URL(url);
    return origin === originOf?.(upstream) || trusted.has(origin);
  }

  async function followFor(caller: string, start: string, options: DownloadOptions, signal: AbortSignal) {
    const { take, end } = allowance.begin(caller);
    try {
      const leave = await gate.enter(signal, caller);
      try {
        return await follow(start, options, signal, take);
      } finally {
        leave();
      }
    } finally {
      end();
    }
  }

  async function follow(
    start: string,
    options: DownloadOptions,
    signal: AbortSignal | TimeLimit,
    take: (bytes: number) => void,
  ): Promise<Buffer> {
    let url = start;
    // Trust is for what a provider hands out itself: no caller, and nobody who sends us on, is to reach the operator's network.
    let isTrusted = options.givenBy === 'provider';
    for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
      isTrusted &&= isOwn(options.upstream, url);
      const refusal = isTrusted ? undefined : urlRefusal(url);
      if (refusal !== undefined) throw new AddressRefused(refusal);
      const replacement = isTrusted ? undefined : readFrom?.(new URL(url), options);
      const { origin, pathname, search } = replacement ?? new URL(url);
      const dispatcher = isTrusted || replacement ? open : guarded;
      const headers = { 'user-agent': 'turnpike' };
      const answer = await dispatcher.request({ origin, path: pathname + search, method: 'GET', headers, signal });
      const { location } = answer.headers;
      if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
        await answer.body.dump();
        url = URL.canParse(location, url) ? new URL(location, url).href : location;
        continue;
      }
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        throw new Error(`answers ${answer.statusCode}`);
      }
      const bytes = await readBounded(counted(answer.body, take), options.maxBytes);
      if (bytes !== undefined) return bytes;
      throw new AddressRefused(`leads to a file of more than ${options.maxBytes} bytes`);
    }
    throw new AddressRefused(`redirects more than ${MOST_REDIRECTS} times`);
  }

  return {
    async download(url, options) {
      const { upstream, givenBy, caller, signal, silentMs, timeoutMs = DEFAULT_TIMEOUT_MS[givenBy] } = options;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const limit = silentMs === undefined ? undefined : new TimeLimit(limited, undefined, silentMs);
      try {
        if (caller !== undefined) return await followFor(caller, url, options, limited);
        return await follow(url, options, limit ?? limited, () => limit?.heard());
      } catch (error) {
        if (error instanceof AllowanceSpent) {
          throw new UpstreamProblem('throttled', upstream, error.message, { publicMessage: error.message });
        }
        const reason = reasonOf(error);
        const where = URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';
        const why = error instanceof Error ? error.message : reason.text;
        const message = `file at ${where}: ${limit?.aborted ? 'took too long' : why}`;
        if (signal.aborted) throw new UpstreamProblem('timeout', upstream, message, { cause: error });
        if (givenBy === 'caller') {
          const publicMessage = `The file's address ${reason.text}`;
          throw new UpstreamProblem('invalid-input', upstream, message, { publicMessage, cause: error });
        }
        throw new UpstreamProblem(reason.refused ? 'malformed' : 'failed', upstream, message, { cause: error });
      } finally {
        limit?.clear();
      }
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

async function* counted(body: AsyncIterable<Uint8Array>, take: (bytes: number) => void): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    take(chunk.length);
    yield chunk;
  }
}

/** Says nothing of what lies behind an address that was tried: not even a caller's own should serve as a port scanner. */
function reasonOf(error: unknown): { text: string; refused: boolean } {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return { text: cause.message, refused: true };
    if (isTimeout(cause)) return { text: 'took too long', refused: false };
  }
  return { text: 'cannot be read', refused: false };
}
