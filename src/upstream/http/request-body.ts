import { randomUUID } from 'node:crypto';
import type { FormPart, UpstreamRequest } from './upstream-http.ts';

/** The path on the wire with its query; undefined and empty values are left out. */
export function withQuery(path: string, query: UpstreamRequest['query']): string {
  if (query === undefined) return path;
  const parameters = new URLSearchParams();
  for (const [name, given] of Object.entries(query)) {
    for (const value of [given].flat()) {
      if (value !== undefined && value !== '') parameters.append(name, String(value));
    }
  }
  const encoded = parameters.toString();
  if (encoded === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${encoded}`;
}

export interface EncodedBody {
  type: string | undefined;
  bytes: Buffer | string | undefined;
  /** As text; empty for none and for parts, whose bytes are not text. */
  text: string;
}

/**
 * JSON, a form (application/x-www-form-urlencoded), its parts (multipart/form-data, RFC 7578) or nothing. Built once: every
 * attempt sends the same bytes.
 */
export function encodeBody(request: Pick<UpstreamRequest, 'json' | 'form' | 'parts'>): EncodedBody {
  if (request.form !== undefined) {
    const text = new URLSearchParams(request.form.map(([name, value]) => [name, value])).toString();
    return { type: 'application/x-www-form-urlencoded', bytes: text, text };
  }
  if (request.parts !== undefined) {
    const boundary = `turnpike-${randomUUID()}`;
    return {
      type: `multipart/form-data; boundary=${boundary}`,
      bytes: encodeParts(request.parts, boundary),
      text: '',
    };
  }
  if (request.json === undefined) return { type: undefined, bytes: undefined, text: '' };
  const text = JSON.stringify(request.json);
  return { type: 'application/json', bytes: text, text };
}

function encodeParts(parts: readonly FormPart[], boundary: string): Buffer {
  const pieces: Uint8Array[] = [];
  for (const { name, value } of parts) {
    const file = typeof value === 'string' ? undefined : value;
    const disposition = `form-data; name="${quoted(name)}"${file ? `; filename="${quoted(file.fileName)}"` : ''}`;
    const type = file ? `Content-Type: ${file.type}\r\n` : '';
    pieces.push(Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\n${type}\r\n`));
    pieces.push(typeof value === 'string' ? Buffer.from(value) : value.bytes, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(pieces);
}

const quoted = (name: string): string => name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
