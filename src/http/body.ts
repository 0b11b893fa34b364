import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';
import { GrowingBytes } from '../growing-bytes.ts';
import { ownTurn } from '../request/large-bodies.ts';
import { MOST_FOR_STRANGERS } from './memory.ts';

const tooLarge = (limitBytes: number) => new Problem('body_too_large', `The body is larger than ${limitBytes} bytes`);

const tooManyPieces = () =>
  new Problem('invalid_json', 'The body comes in too many small pieces: send it with a Content-Length', {
    headers: { connection: 'close' },
  });

/** A body that is smaller is taken until twice as much is kept. */
const SMALL_BODY_BYTES = 65_536;
/** The memory of bodies that are not worked on yet, in bytes: callers of many addresses may send as many as there are connections. */
let kept = 0;

const tooMuchAtOnce = () =>
  new Problem('rate_limited', 'Too many bodies come in at the moment: send it again in a few seconds', {
    headers: { 'retry-after': '5' },
  });

/** However a body is cut, so many pieces are nobody's work. */
const FEW_PIECES = 1_000;
/** Beyond those, pieces have to be as large as this on average. */
const SMALL_PIECE_BYTES = 64;

/** As much of a refused body is still taken in, in bytes. */
const DISCARDED_BYTES = 8 * 1_048_576;

/**
 * Who is still sending when the connection is closed gets a reset in place of the answer: what comes is thrown away for
 * a while (RFC 9112, 9.6).
 */
function discard(request: IncomingMessage): void {
  let left = DISCARDED_BYTES;
  request.on('data', (piece: Buffer) => {
    left -= Math.max(piece.length, SMALL_PIECE_BYTES);
    if (left < 0) request.destroy();
  });
}

/**
 * The body's exact bytes, once a first step of work on them has its turn. Throws Problem `body_too_large` as soon as that is
 * known, and `rate_limited` for a large one while more than `mostKept` bytes are kept for bodies that have not come to that.
 */
export function readRawBody(
  request: IncomingMessage,
  limitBytes: number,
  mostKept = MOST_FOR_STRANGERS,
): Promise<Buffer> {
  if (request.readableEnded) {
    const message = 'the body was read before the gateway saw it: mount its router before any body parser';
    return Promise.reject(new Error(message));
  }
  const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (Number.isFinite(announced) && announced > limitBytes) {
    discard(request);
    return Promise.reject(tooLarge(limitBytes));
  }
  return new Promise((resolve, reject) => {
    let bytes = new GrowingBytes(announced);
    let pieces = 0;
    const letGo = (): Buffer => {
      const whole = bytes.read();
      kept -= bytes.memory;
      bytes = new GrowingBytes(announced);
      return whole;
    };
    const fail = (error: unknown) => {
      request.off('data', collect);
      letGo();
      reject(error);
    };
    const collect = (piece: Buffer) => {
      pieces += 1;
      if (bytes.size + piece.length > limitBytes) {
        fail(tooLarge(limitBytes));
        discard(request);
      } else if (pieces > FEW_PIECES + bytes.size / SMALL_PIECE_BYTES) {
        fail(tooManyPieces());
        // Each piece costs something, whatever becomes of it: the answer closes the connection.
        request.pause();
      } else if (kept > (bytes.size + piece.length > SMALL_BODY_BYTES ? mostKept : 2 * mostKept)) {
        fail(tooMuchAtOnce());
        discard(request);
      } else {
        kept -= bytes.memory;
        bytes.add(piece);
        kept += bytes.memory;
      }
    };
    request.on('data', collect);
    request.on('end', async () => {
      request.off('error', fail);
      await ownTurn(bytes.read());
      resolve(letGo());
    });
    request.on('error', fail);
    request.on('aborted', () => fail(new Problem('invalid_json', 'The request ended before its body did')));
  });
}
