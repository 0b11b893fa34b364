/** Documents in the encoding that a client takes, each compressed once. */
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { type Document, isAmong } from '../discovery/document.ts';

const COMPRESSORS = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;

type Encoding = keyof typeof COMPRESSORS;

const kept = new WeakMap<Document, Map<Encoding, Promise<Buffer>>>();

function compressed(document: Document, encoding: Encoding): Promise<Buffer> {
  const known = kept.get(document) ?? new Map<Encoding, Promise<Buffer>>();
  kept.set(document, known);
  const body = known.get(encoding) ?? COMPRESSORS[encoding](document.body);
  known.set(encoding, body);
  return body;
}

/** `304` where the client has it. */
export async function sendCompressed(document: Document, request: Request, response: Response): Promise<void> {
  response.setHeader('etag', document.etag);
  response.vary('accept-encoding');
  if (isAmong(document, request.headers['if-none-match'])) {
    response.status(304).end();
    return;
  }
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity');
  const isCompressed = encoding === 'br' || encoding === 'gzip';
  const body = isCompressed ? await compressed(document, encoding) : document.body;
  if (isCompressed) response.setHeader('content-encoding', encoding);
  response.setHeader('content-type', document.type);
  response.setHeader('content-length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
