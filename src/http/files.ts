/** Documents and media: what is served as it is. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import type { Request, Response } from 'express';
import { type Document, isAmong } from '../discovery/document.ts';

/** A file of the media store. */
export interface ServedFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
}

/** Bytes of a file, the last one with them. */
interface Part {
  readonly start: number;
  readonly end: number;
}

const YEAR_SECONDS = 31_536_000;

/** Says by which tag it is known again, and how long it is good. True for who has it already: they are told so. */
function isHad(etag: string, cacheControl: string, request: Request, response: Response): boolean {
  response.setHeader('etag', etag);
  response.setHeader('cache-control', cacheControl);
  if (!isAmong({ etag }, request.headers['if-none-match'])) return false;
  response.status(304).end();
  return true;
}

export function sendDocument(document: Document, request: Request, response: Response): void {
  if (isHad(document.etag, 'public, max-age=60', request, response)) return;
  response.setHeader('content-type', document.type);
  response.setHeader('content-length', document.body.length);
  response.end(request.method === 'HEAD' ? undefined : document.body);
}

/**
 * Media is named by its content, so it can be kept for as long as anybody likes. Rejects, with no header set, where the file
 * cannot be opened.
 */
export async function sendFile(file: ServedFile, request: Request, response: Response): Promise<void> {
  const opened = await open(file.path);
  const part = begin(file, request, response);
  if (part === undefined) await opened.close();
  // Closes the file, too, when the caller leaves; whichever side failed, no answer is left to give.
  else pipeline(opened.createReadStream(part), response, () => {});
}

/** Sets the headers. What of the file comes behind them; undefined where nothing does, and the answer is at its end. */
function begin(file: ServedFile, request: Request, response: Response): Part | undefined {
  const etag = `"${basename(file.path)}"`;
  if (isHad(etag, `public, max-age=${YEAR_SECONDS}, immutable`, request, response)) return undefined;
  response.setHeader('content-type', file.type);
  response.setHeader('accept-ranges', 'bytes');
  // A picture may be an SVG, and what a stranger had made must run nothing at the gateway's origin. Sound and film that are
  // opened at their own address are loaded by the page that a browser makes for them, under this policy.
  response.setHeader('content-security-policy', "default-src 'none'; media-src 'self'; sandbox");
  // Nor is it shown there: browsers that keep to this show no PDF.
  if (file.type === 'application/pdf') response.setHeader('content-disposition', 'attachment');
  const [range] = [undefined, etag].includes(request.get('if-range')) ? rangesOf(request, file.size) : [];
  if (range) {
    response.status(206).setHeader('content-range', `bytes ${range.start}-${range.end}/${file.size}`);
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  response.setHeader('content-length', end - start + 1);
  if (request.method !== 'HEAD' && file.size > 0) return { start, end };
  response.end();
  return undefined;
}

function rangesOf(request: Request, size: number): readonly Part[] {
  const ranges = request.range(size, { combine: true });
  return Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges : [];
}
