/** One request, written down so that it can be sent again by hand. */
import { type Answer, type Conversation, converse, type Script } from './wire.ts';

/** Where `fill` goes in a body. Valid inside a JSON string, and as a string of its own. */
export const GAP = '~gap~';

export interface Body {
  /** Each character a byte, unless it is `utf8`. */
  readonly text: string;
  readonly encoding: 'utf8' | 'latin1';
  /** Takes the place of the gap, so that a large body is written in a few words. */
  readonly fill?: { readonly unit: string; readonly times: number } | undefined;
  /** Sent in chunks of so many bytes; left out: in one piece, with its length. */
  readonly chunkBytes?: number | undefined;
}

export interface Call {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Body | undefined;
}

export const JSON_TYPE = ['content-type', 'application/json'] as const;

export const jsonBody = (value: unknown): Body => ({ text: JSON.stringify(value) ?? '', encoding: 'utf8' });

function bytesOf({ text, encoding, fill }: Body): Buffer {
  const whole = fill ? text.replace(GAP, () => fill.unit.repeat(fill.times)) : text;
  return Buffer.from(whole, encoding);
}

/** Chunked transfer coding (RFC 9112, 7.1). */
function chunks(bytes: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** The request as it goes over the wire. */
export function requestBytes({ method, target, headers, body }: Call): Buffer {
  const bytes = body && bytesOf(body);
  const framing =
    bytes === undefined
      ? []
      : body?.chunkBytes === undefined
        ? [`content-length: ${bytes.length}`]
        : ['transfer-encoding: chunked'];
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: localhost',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...framing,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (bytes === undefined) return head;
  return Buffer.concat([head, body?.chunkBytes === undefined ? bytes : chunks(bytes, body.chunkBytes)]);
}

export interface Answered extends Pick<Conversation, 'end' | 'milliseconds'> {
  /** Undefined where the connection ended without one. */
  readonly answer: Answer | undefined;
}

/** `isSound`: the request is HTTP and whole; else the client says after a while that nothing more comes. */
export async function send(url: string, call: Call, isSound = true): Promise<Answered> {
  const ending = isSound ? 'wait' : 'finish';
  const script: Script = { pieces: [requestBytes(call)], pauseMs: 0, ending, methods: [call.method] };
  const { answers, end, milliseconds } = await converse(url, script);
  return { answer: answers[0], end, milliseconds };
}

const quoted = (text: string): string =>
  `$'${text.replace(/[^\x20-\x7e]|['\\]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;

/** The body as arguments of curl. */
function curlBody(body: Body): string[] {
  const framing = body.chunkBytes === undefined ? [] : ["-H 'transfer-encoding: chunked'"];
  if (!body.fill) return [...framing, `--data-binary ${quoted(bytesOf(body).toString('latin1'))}`];
  const { unit, times } = body.fill;
  const [before = '', after = ''] = body.text.split(GAP).map((part) => JSON.stringify(part));
  const script = `process.stdout.write(Buffer.from(${before}+${JSON.stringify(unit)}.repeat(${times})+${after},"${body.encoding}"))`;
  return [...framing, `--data-binary @<(node -e ${quoted(script)})`];
}

/** A command for bash that sends it. */
export function asCurl(url: string, { method, target, headers, body }: Call): string {
  const words = [
    `curl -i -X ${method} --path-as-is ${quoted(url + target)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? curlBody(body) : []),
  ];
  return words.join(' ');
}
