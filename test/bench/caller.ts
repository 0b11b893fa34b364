/**
 * One caller: a connection with one request under way. By hand, because callers share the machine with what they measure:
 * a client that does more takes a part of the second core that a fast server would have used.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Answered {
  readonly status: number;
  /** As it came: with the marks of its chunks, where it came in chunks. */
  readonly text: () => string;
  /** Milliseconds from the request. */
  readonly firstByte: number;
  readonly lastByte: number;
}

export interface Caller {
  /** Rejects when the connection ends before the answer does. */
  ask(call: Call): Promise<Answered>;
  close(): void;
}

/** Of a host that keeps connections open (HTTP/1.1, RFC 9112), and answers with a length or in chunks. */
export async function openCaller(origin: string): Promise<Caller> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname).setNoDelay();
  await once(socket, 'connect');
  return { ask: (call) => ask(socket, host, call), close: () => socket.destroy() };
}

function ask(socket: Socket, host: string, { path, headers, body }: Call): Promise<Answered> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const answer = incoming();
    let firstByte: number | undefined;
    const take = (bytes: Buffer) => {
      const isWhole = answer.add(bytes);
      if (answer.hasBody()) firstByte ??= performance.now() - startedAt;
      if (!isWhole) return;
      const lastByte = performance.now() - startedAt;
      socket.off('data', take).off('close', lost).off('error', lost);
      resolve({ status: answer.status(), text: answer.text, firstByte: firstByte ?? lastByte, lastByte });
    };
    const lost = (error: unknown) =>
      reject(error instanceof Error ? error : new Error(`${path}: the connection ended before the answer`));
    if (socket.destroyed) return lost(undefined);
    socket.on('data', take).once('close', lost).once('error', lost);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}

const END_OF_HEAD = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/** An answer while it comes. */
function incoming() {
  const parts: Buffer[] = [];
  let bytes = 0;
  /** Where the body begins; undefined before the head is whole. */
  let body: number | undefined;
  /** Bytes in all; undefined: chunks tell the end. */
  let whole: number | undefined;
  let status = 0;

  const joined = (): Buffer => {
    if (parts.length > 1) parts.splice(0, parts.length, Buffer.concat(parts));
    return parts[0] ?? Buffer.alloc(0);
  };

  function readHead(): void {
    const start = joined();
    const end = start.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = start.toString('latin1', 0, end);
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    body = end + END_OF_HEAD.length;
    status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    if (length !== undefined) whole = body + Number(length);
    else if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`an answer without an end: ${head}`);
  }

  return {
    status: () => status,
    hasBody: () => body !== undefined && bytes > body,
    text: () => joined().toString('utf8', body),
    /** True with the last byte. */
    add(part: Buffer): boolean {
      parts.push(part);
      bytes += part.length;
      if (body === undefined) readHead();
      if (body === undefined) return false;
      if (whole !== undefined) return bytes >= whole;
      const tail = part.length >= LAST_CHUNK.length ? part : joined();
      return tail.toString('latin1', tail.length - LAST_CHUNK.length) === LAST_CHUNK;
    },
  };
}
