/**
 * One HTTP request whose answer is wanted whole. undici is told where the bytes go: to make a stream of each answer and to read
 * that took a quarter of what an exchange costs.
 */
import type { Dispatcher } from 'undici';
import { GrowingBytes } from '../growing-bytes.ts';
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
    const bytes = new GrowingBytes(maxBytes);
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
        if (bytes.size + piece.length <= maxBytes) return bytes.add(piece);
        resolve({ status, headers, body: undefined });
        stop?.(new Error('the answer is too large'));
      },
      onResponseEnd: () => resolve({ status, headers, body: bytes.read() }),
      onResponseError: (_, error) => reject(error),
    });
  });
}
