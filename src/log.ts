import { pino } from 'pino';
import { codeOf } from './error-code.ts';
import { readable } from './readable-log.ts';

/** Structured log lines; pino's signature. Keys, proofs, signatures and prompts are never passed to it. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  /** Left out: every line is written. */
  isLevelEnabled?(level: string): boolean;
}

/** Characters of lines that wait for room on a disk, or for a reader who has stopped: those that come then are lost. */
const MOST_UNWRITTEN = 16 * 1024 * 1024;

/** How long a process that ends waits for a reader who takes nothing, in milliseconds. */
const LAST_LINES_MS = 1_000;

/** How long a reader who is behind is given until the next try, in milliseconds. */
const NEXT_TRY_MS = 100;

/**
 * On standard error, JSON lines, or readable ones where that is a terminal; standard output is for what a person asked for.
 * `base` is in every line.
 */
export function createLog(level: string, base: object | null = null): Log {
  let isLast = false;
  let unread = 0;
  let unreadSince = 0;
  let isBehind = false;
  const hasPatience = (_error: Error, waiting: number, behind: number) => {
    if (waiting + behind !== unread) unreadSince = performance.now();
    unread = waiting + behind;
    // Else it would keep what it tries again out of the last lines.
    return isLast && performance.now() - unreadSince < LAST_LINES_MS;
  };
  const stream = pino.destination({ dest: 2, sync: false, maxLength: MOST_UNWRITTEN, retryEAGAIN: hasPatience });
  const writeLast = stream.flushSync.bind(stream);
  stream.flushSync = () => {
    isLast = true;
    unreadSince = performance.now();
    try {
      writeLast();
    } catch {
      // What nobody reads must not keep the process from its end.
    }
  };
  // Who sells does not end for want of room for a line: what is kept is written with the next, once there is some.
  stream.on('error', (error) => {
    const code = codeOf(error);
    if (code === 'EAGAIN' || code === 'EBUSY') {
      if (isBehind) return;
      isBehind = true;
      setTimeout(() => {
        isBehind = false;
        stream.write('');
      }, NEXT_TRY_MS);
      return;
    }
    // It would try for ever, and the process could not end.
    stream.flushSync = () => undefined;
    // pino itself looks for it at the first error only.
    if (code === 'EPIPE') stream.write = () => true;
  });
  if (!process.stderr.isTTY) return pino({ level, base }, stream);
  return pino({ level, base }, { write: (line: string) => stream.write(readable(line)) });
}
