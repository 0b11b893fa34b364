/** A name server (RFC 1035, over UDP) that knows a few names; whoever asks for others is never answered. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

const A = 1;
const AAAA = 28;
/** An answer to a recursive question. */
const ANSWERED = 0x8180;
/** The name that stands at the twelfth byte of the message. */
const SAME_NAME = 0xc00c;
const INTERNET = 1;

const words = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 2);
  for (const [at, number] of numbers.entries()) bytes.writeUInt16BE(number, at * 2);
  return bytes;
};

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string) =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail)];
  return words(...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last);
}

function readQuestion(message: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    question: message.subarray(12, at + 5),
  };
}

export interface NameServer {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** Names that were asked for and not answered. */
  readonly unanswered: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** `known`: name -> its addresses. */
export async function serveNames(known: Readonly<Record<string, readonly string[]>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  const unanswered = new Set<string>();
  socket.on('message', (message, { port, address }) => {
    const { name, type, question } = readQuestion(message);
    const addresses = known[name];
    if (!addresses) return void unanswered.add(name);
    const records = addresses
      .filter((each) => (isIPv4(each) ? A : AAAA) === type)
      .map((each) => {
        const bytes = bytesOf(each);
        return Buffer.concat([words(SAME_NAME, type, INTERNET, 0, 0, bytes.length), bytes]);
      });
    const head = Buffer.concat([message.subarray(0, 2), words(ANSWERED, 1, records.length, 0, 0)]);
    socket.send(Buffer.concat([head, question, ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const stop = async () => {
    socket.close();
    await once(socket, 'close');
  };
  return { address: `127.0.0.1:${socket.address().port}`, unanswered, stop };
}
