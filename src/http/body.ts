import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';

const tooLarge = (limitBytes: number) =>
  new Problem('body_too_large', `The body is larger than ${limitBytes} bytes`, {
    headers: { connection: 'close' },
  });

/** The body's exact bytes. Throws Problem `body_too_large` as soon as that is known. */
export function readRawBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (request.readableEnded) {
    const message = 'the body was read before the gateway saw it: mount its router before any body parser';
    return Promise.reject(new Error(message));
  }
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else reject(tooLarge(limitBytes));
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('aborted', () => reject(new Problem('invalid_json', 'The request ended before its body did')));
  });
}
