/** Messages of HTTP/1.1 (RFC 9112) as bytes: those that tell their length, or come in chunks. */

const END_OF_HEAD = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Where the body of the first message begins; undefined while its head is not whole. */
export function bodyOfFirst(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  return end < 0 ? undefined : end + END_OF_HEAD.length;
}

/** The bytes of the first message; undefined while it is not whole. */
export function lengthOfFirst(bytes: Buffer): number | undefined {
  const body = bodyOfFirst(bytes);
  if (body === undefined) return undefined;
  const head = bytes.toString('latin1', 0, body);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    // Of an empty body the last chunk stands right behind the head.
    const last = bytes.indexOf(LAST_CHUNK, body - '\r\n'.length);
    return last < 0 ? undefined : last + LAST_CHUNK.length;
  }
  const length = body + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return bytes.length < length ? undefined : length;
}
