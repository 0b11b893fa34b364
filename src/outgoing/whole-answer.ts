/**
 * One HTTP request whose answer is wanted whole. undici is told where the bytes go: to make a stream of each answer and to read
 * that took a quarter of what an exchange costs.
 */
import type { Dispatcher } from 'undici';
import type { TimeLimit } from './time-limit.ts';

export interface WholeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined where there are more than `maxBytes`: the rest was not read. */
  readonly body: Buffer | undefined;
}

type Request = Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers' | 'body'>;

interface Bounds {
  readonly maxBytes: number;
  readonly limit: TimeLimit;
  /** Told as soon as the answer begins. */
  readonly began?: (status: number) => void;
}

/** A buffer of at least so many bytes, of which the first are the same. Twice as large each time, so that few are copied often. */
function withRoom(held: Buffer, used: number, wanted: number): Buffer {
  if (wanted <= held.length) return held;
  const larger = Buffer.allocUnsafe(Math.max(wanted, 2 * held.length));
  held.copy(larger, 0, 0, used);
  return larger;
}

/** Rejects where there is no whole answer, also where the limit ends it: `limit.aborted` tells. */
export function wholeAnswer(
  dispatcher: Dispatcher,
  request: Request,
  { maxBytes, limit, began }: Bounds,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    let stop: ((reason: Error) => void) | undefined;
    let status = 0;
    let headers: WholeAnswer['headers'] = {};
    // What came, at its beginning: a piece for each byte, as some send them, would be a hundred times as large.
    let held: Buffer = Buffer.alloc(0);
    let bytes = 0;
    const late = () => {
      const reason = new DOMException('the request was given up', 'AbortError');
      // It may still wait for a connection.
      reject(reason);
      stop?.(reason);
    };
    if (limit.aborted) return late();
    limit.once('abort', late);
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        stop = (reason) => controller.abort(reason);
        if (limit.aborted) late();
      },
      onResponseStart(_, statusCode, answered) {
        status = statusCode;
        headers = answered;
        limit.heard();
        began?.(statusCode);
      },
      onResponseData(_, piece) {
        limit.heard();
        const before = bytes;
        bytes += piece.length;
        if (bytes > maxBytes) {
          resolve({ status, headers, body: undefined });
          stop?.(new Error('the answer is too large'));
        } else if (before === 0) {
          held = piece;
        } else {
          held = withRoom(held, before, bytes);
          piece.copy(held, before);
        }
      },
      onResponseEnd: () => resolve({ status, headers, body: held.subarray(0, bytes) }),
      onResponseError: (_, error) => reject(error),
    });
  });
}
