/** Bytes on the wire, both ways, of one call over a connection of its own: HTTP/1.1 without compression. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { ask } from '../bench.ts';
import { makePayments } from '../payments.ts';
import { type Has, type Row, smallerIsBetter } from '../row.ts';
import { subject } from '../subject.ts';

async function bytes(url: string, expects: number, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const sent = {
    host,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(subject.body)),
    ...headers,
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  socket.write(`POST ${subject.path} HTTP/1.1\r\n${lines.join('')}\r\n${subject.body}`);
  await once(socket, 'close');
  if (!answer.startsWith(`HTTP/1.1 ${expects} `)) throw new Error(`${url} did not answer ${expects}: ${answer}`);
  return socket.bytesRead + socket.bytesWritten;
}

async function payment(url: string): Promise<string> {
  const { headers } = await ask(url);
  const required = JSON.parse(Buffer.from(headers['payment-required'] ?? '', 'base64').toString());
  return makePayments(required, 1, 'strangers')[0] ?? '';
}

export const bytesOnTheWire: Row = {
  name: 'bytes',
  async run(bench) {
    const unpaid: Has[] = [];
    const paid: Has[] = [];
    const servers = [
      ['turnpike', await bench.gateway()],
      ['@x402/express', await bench.peer('x402-express')],
      ['@faremeter/middleware', await bench.peer('faremeter')],
    ] as const;
    for (const [who, server] of servers) {
      if (!server) continue;
      unpaid.push({ who, values: [await bytes(server.url, 402)] });
      paid.push({ who, values: [await bytes(server.url, 200, { 'payment-signature': await payment(server.url) })] });
    }
    return [
      ...smallerIsBetter('bytes-challenge', unpaid, { unit: 'bytes' }),
      ...smallerIsBetter('bytes-paid', paid, { unit: 'bytes' }),
    ];
  },
};
