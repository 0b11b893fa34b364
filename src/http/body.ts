import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';
import { BODY_LIMIT_BYTES } from '../pricing/estimate.ts';

const tooLarge = () =>
  new Problem('body_too_large', `The body is larger than ${BODY_LIMIT_BYTES} bytes`, {
    headers: { connection: 'close' },
  });

/** The body's exact bytes. Throws Problem `body_too_large` as soon as that is known. */
export function readRawBody(request: IncomingMessage): Promise<Buffer> {
  if (request.readableEnded) {
    const message = 'the body was read before the gateway saw it: mount its router before any body parser';
    return Promise.reject(new Error(message));
  }
  if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('aborted', () => reject(new Problem('invalid_json', 'The request ended before its body did')));
  });
}
