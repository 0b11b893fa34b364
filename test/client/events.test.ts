/** Answers that stream, whole and cut. */
import t from 'tap';
import { readEvents } from '../../src/client/events.ts';
import { type Events, StreamBroken } from '../../src/client/index.ts';
import { openClient, startHostile } from './hostile-gateway.ts';

const inPieces = (pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

async function eventsIn(body: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const event of readEvents(body)) found.push(event);
  return found;
}

for (const [what, end] of [
  ['line feeds', '\n'],
  ['carriage returns', '\r'],
  ['both', '\r\n'],
] as const) {
  t.test(`events are read alike wherever they are cut into pieces, their lines ended by ${what}`, async (t) => {
    const lines = [': on its way', 'data: one', 'data:zwei ü', '', 'event: last', 'data', ': more', '', ''];
    const bytes = new TextEncoder().encode(lines.join(end));
    const expected = [
      { event: 'message', data: 'one\nzwei ü' },
      { event: 'last', data: '' },
    ];
    for (let at = 0; at <= bytes.length; at += 1) {
      t.same(await eventsIn(inPieces([bytes.subarray(0, at), bytes.subarray(at)])), expected);
    }
    t.same(await eventsIn(inPieces([...bytes].map((byte) => Uint8Array.of(byte)))), expected);
  });
}

for (const [what, text, seen] of [
  ['within a line', 'data: one\n\nevent: last\ndata: tw', ['one']],
  ['between the lines of an event', 'data: one\n\ndata: two\n', ['one']],
  ['before its first event', ': on its way\n\n', []],
] as const) {
  t.test(`a stream that ends ${what} is not whole, and is had again with the same payment`, async (t) => {
    const gateway = await startHostile(t);
    const { client, signed } = openClient(gateway);
    gateway.onPayment = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    const answer = await client.call('/x', {});
    const found: string[] = [];
    let broken: unknown;
    try {
      for await (const { data } of (answer.ok && answer.result) as Events) found.push(data);
    } catch (error) {
      broken = error;
    }
    t.same(found, seen);
    t.match(broken, { name: 'StreamBroken', code: 'no_answer', message: /was cut .*again\(\) brings it whole/ });
    gateway.onPayment = (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: one\n\ndata: two\n\n');
    const again = broken instanceof StreamBroken ? await broken.again() : answer;
    const whole: string[] = [];
    for await (const { data } of (again.ok && again.result) as Events) whole.push(data);
    t.same(whole, ['one', 'two']);
    t.equal(new Set(gateway.payments).size, 1);
    t.equal(signed.length, 1);
    t.same(client.spending.spent, '0.05');
  });
}

t.test('a stream that cost nothing and broke off is not paid for when it is asked for again', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  gateway.onCall = (_request, response) => {
    gateway.onCall = undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: one\n\ndata: tw');
  };
  const answer = await client.call('/x', {});
  if (!answer.ok) throw new Error(answer.message);
  let broken: unknown;
  try {
    for await (const event of answer.result as Events) t.same(event, { event: 'message', data: 'one' });
  } catch (error) {
    broken = error;
  }
  if (!(broken instanceof StreamBroken)) throw broken;
  t.match(await broken.again(), { ok: false, reason: 'limit', limit: { price: '0.05', limit: '0' } });
  t.same(signed, []);
});
