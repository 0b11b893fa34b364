/** Gateways that answer without an end. */
import t from 'tap';
import { type Events, StreamBroken } from '../../src/client/index.ts';
import { type Hostile, openClient, startHostile } from './hostile-gateway.ts';
import { pouring } from './pouring.ts';

const MIB = 1024 * 1024;

async function brokenBy(events: Events): Promise<StreamBroken> {
  try {
    for await (const _ of events);
  } catch (error) {
    if (error instanceof StreamBroken) return error;
    throw error;
  }
  throw new Error('the stream counts as whole');
}

const answeringHere: Hostile['onPayment'] = (response) => response.end('{"here":true}');

t.test('of an error without an end a mebibyte is read, before a payment and after one', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway, { retries: 0 });
  const before = pouring('x', 402, 'application/json', '{"detail":"');
  gateway.onCall = (_request, response) => before.pour(response);
  t.match(await client.call('/x', {}), { ok: false, message: /answered 402 with more than 1 MiB/ });
  t.same(signed, []);
  gateway.onCall = undefined;
  const after = pouring('x', 500, 'application/json', '{"error":{"message":"');
  gateway.onPayment = after.pour;
  const owed = await client.call('/x', {});
  t.match(owed, { ok: false, reason: 'owed', message: /answered 500 with more than 1 MiB.*again\(\)/ });
  for (const { bytes } of [before.poured, after.poured]) t.ok(bytes < 16 * MIB, `${bytes} bytes were sent`);
  gateway.onPayment = answeringHere;
  t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true, result: { here: true } });
  t.equal(signed.length, 1);
});

t.test('a result without an end is not read for ever, and not asked for again at once', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  const { pour, poured } = pouring('x', 200, 'application/json', '"');
  gateway.onPayment = pour;
  const owed = await client.call('/x', {});
  t.match(owed, { ok: false, reason: 'owed', message: /longer than 64 MiB.*again\(\)/ });
  t.ok(poured.bytes < 96 * MIB);
  t.equal(gateway.payments.length, 1);
  gateway.onCall = (_request, response) => pouring('x', 200, 'application/json', '"').pour(response);
  t.match(await client.call('/x', {}), { reason: 'failed', code: 'unreadable_answer', message: /longer than 64 MiB/ });
  t.equal(signed.length, 1);
});

for (const [what, text, begin] of [
  ['a line', 'x', 'data: '],
  ['an event', 'data: x\n', ''],
  ['an event of empty fields', 'x\r', ''],
] as const) {
  t.test(`${what} of a stream without an end breaks it, and it can be had again`, async (t) => {
    const gateway = await startHostile(t);
    const { client } = openClient(gateway);
    const { pour, poured } = pouring(text, 200, 'text/event-stream', begin);
    gateway.onPayment = pour;
    const answer = await client.call('/x', {});
    const broken = await brokenBy((answer.ok && answer.result) as Events);
    t.match(broken, { code: 'no_answer', message: /an event is longer than 8 MiB.*again\(\)/ });
    t.ok(poured.bytes < 32 * MIB);
    gateway.onPayment = answeringHere;
    t.match(await broken.again(), { ok: true, result: { here: true } });
    t.equal(new Set(gateway.payments).size, 1);
  });
}
