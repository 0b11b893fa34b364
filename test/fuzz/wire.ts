/** HTTP/1.1 as bytes on a socket: what a well-behaved client would not let one send, and every answer as it came. */
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  /** Names in lower case, each with all its values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
}

export interface Conversation {
  readonly answers: readonly Answer[];
  /** How it ended: with all answers, by the gateway, with an error of the connection, or in silence. */
  readonly end: 'answered' | 'closed' | 'broken' | 'silent';
  /** What came and is no HTTP. */
  readonly rest: Buffer;
  readonly milliseconds: number;
}

export interface Script {
  readonly pieces: readonly Buffer[];
  /** Between two pieces, in milliseconds. */
  readonly pauseMs: number;
  /** What the client does once all is written: waits, says after a second that nothing more comes, or leaves. */
  readonly ending: 'wait' | 'finish' | 'leave';
  /** Methods of the requests, one for each answer that is waited for: the answer to HEAD has no body. */
  readonly methods: readonly string[];
}

/** Long after any answer comes that does not wait for a chain. */
const SILENT_MS = 120_000;
const FINISH_MS = 1_000;
const LINE_END = '\r\n';

interface Parsed {
  readonly answer: Answer;
  readonly size: number;
}

/** The first answer of the bytes; undefined while something of it is missing. */
function parseAnswer(bytes: Buffer, method: string, isWhole: boolean): Parsed | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split(LINE_END);
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) /.exec(`${first} `)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  const start = headEnd + 4;
  const withBody = (body: Buffer, end: number): Parsed => ({ answer: { status, headers, body }, size: end });
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return withBody(Buffer.alloc(0), start);
  const length = headers.get('content-length')?.[0];
  if (length !== undefined) {
    const end = start + Number(length);
    return bytes.length < end ? undefined : withBody(bytes.subarray(start, end), end);
  }
  if (headers.get('transfer-encoding')?.[0] === 'chunked') {
    const chunked = parseChunks(bytes, start);
    return chunked && withBody(chunked.body, chunked.end);
  }
  return isWhole ? withBody(bytes.subarray(start), bytes.length) : undefined;
}

function parseChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), end };
    chunks.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** Writes the pieces and reads what comes. Never rejects. */
export function converse(url: string, { pieces, pauseMs, ending, methods }: Script): Promise<Conversation> {
  return new Promise((resolve) => {
    const begin = performance.now();
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    const answers: Answer[] = [];
    let rest: Buffer = Buffer.alloc(0);
    const end = (how: Conversation['end']) => {
      clearTimeout(silence);
      clearTimeout(finishing);
      socket.destroy();
      resolve({ answers, end: how, rest, milliseconds: performance.now() - begin });
    };
    let finishing: NodeJS.Timeout | undefined;
    const silence = setTimeout(() => end('silent'), SILENT_MS);
    const read = (isWhole: boolean) => {
      for (;;) {
        const parsed = parseAnswer(rest, methods[answers.length] ?? 'GET', isWhole);
        if (!parsed) return;
        rest = rest.subarray(parsed.size);
        if (parsed.answer.status >= 200) answers.push(parsed.answer);
        if (answers.length === methods.length) return end('answered');
      }
    };
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      read(false);
    });
    socket.on('end', () => {
      read(true);
      end('closed');
    });
    socket.on('error', () => {
      read(true);
      end('broken');
    });
    const write = async () => {
      for (const [index, piece] of pieces.entries()) {
        if (index > 0 && pauseMs > 0) await new Promise((later) => setTimeout(later, pauseMs));
        if (socket.destroyed) return;
        socket.write(piece);
      }
      if (ending === 'finish') finishing = setTimeout(() => socket.end(), FINISH_MS);
      if (ending === 'leave') end('closed');
    };
    socket.once('connect', write);
  });
}
