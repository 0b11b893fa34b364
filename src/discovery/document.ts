import { createHash } from 'node:crypto';

/** A document that is made once and served as it is. */
export interface Document {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const JSON_TYPE = 'application/json';

export function makeDocument(content: object | string, type = JSON_TYPE): Document {
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/** `known`: the `If-None-Match` of a request, whose tags a proxy that compresses has marked as weak. */
export const isAmong = ({ etag }: Pick<Document, 'etag'>, known = ''): boolean =>
  known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);

/** The same for JSON, made when it is first asked for: nobody waits for what nobody reads. */
export function laterDocument(contentOf: () => object): Document {
  let made: Document | undefined;
  const document = () => {
    made ??= makeDocument(contentOf());
    return made;
  };
  return {
    type: JSON_TYPE,
    get body() {
      return document().body;
    },
    get etag() {
      return document().etag;
    },
  };
}
