/**
 * One caller: a connection with one request under way. By hand, because callers share the machine with what they measure:
 * a client that does more takes a part of the second core that a fast server would have used.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { bodyOfFirst, lengthOfFirst } from './wire.ts';

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
    let answer: Buffer = Buffer.alloc(0);
    let firstByte: number | undefined;
    const take = (bytes: Buffer) => {
      answer = answer.length === 0 ? bytes : Buffer.concat([answer, bytes]);
      const body = bodyOfFirst(answer);
      if (body === undefined) return;
      if (answer.length > body) firstByte ??= performance.now() - startedAt;
      if (lengthOfFirst(answer) === undefined) return;
      const lastByte = performance.now() - startedAt;
      socket.off('data', take).off('close', lost).off('error', lost);
      const status = Number(answer.toString('latin1', 'HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      resolve({ status, text: () => answer.toString('utf8', body), firstByte: firstByte ?? lastByte, lastByte });
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
