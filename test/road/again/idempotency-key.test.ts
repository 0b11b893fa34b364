/** A payer whose answer was lost pays again under the same `Idempotency-Key`, and is charged once. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import type { Gateway } from '../../gateway.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

/** Once set, both clocks stand still: the first instance renews no lease any more, and no payment comes to its end. */
let stoppedAt: number | undefined;
const gateway = await startRelayedGateway({ now: () => stoppedAt ?? Date.now() });
t.teardown(gateway.stop);
let ahead = 0;
const other = await gateway.startAnother(() => (stoppedAt ?? Date.now()) + ahead);
const { another } = await openEvmWallet(gateway, 'chain-c');

const PRICE = 60_000n;
let made = 0;

/** One key and a request that no other test makes, on both protocols. */
const protocols = {
  x402: { path: '/image/family-e-2', sign: (call: PaidCall, payer: Gateway) => signProof(payer, 'chain-c', call) },
  MPP: {
    path: '/mpp/image/family-e-2',
    sign: async ({ url, init }: PaidCall, payer: Gateway) =>
      openMppPayer(payer.state, 'chain-c').sign(await fetch(url, init)),
  },
};

type Proof = Record<string, string>;

function order({ path, sign }: (typeof protocols)['x402' | 'MPP']) {
  made += 1;
  const key = { 'idempotency-key': `order-${made}` };
  const call = request(gateway, path, { prompt: `a lighthouse, number ${made}` });
  return {
    call,
    key,
    /** A fresh payment under the key. */
    pay: async (payer: Gateway = gateway): Promise<Proof> => ({ ...(await sign(call, payer)), ...key }),
    send: (proof: Proof) => sendProof(call, proof),
    /** To the second instance. */
    sendOther: (proof: Proof) => sendProof({ ...call, url: call.url.replace(gateway.url, other) }, proof),
  };
}

/** What was earned, asked of upstreams and settled since. */
async function watch() {
  const [earned, calls] = [await gateway.earned('chain-c'), await gateway.calls()];
  return async () => {
    const now = await gateway.calls();
    return {
      earned: (await gateway.earned('chain-c')) - earned,
      upstreamCalls: now.upstreamCalls - calls.upstreamCalls,
      settlements: now.settlementCount - calls.settlementCount,
    };
  };
}
const ONCE = { earned: PRICE, upstreamCalls: 1, settlements: 1 };
const TWICE = { earned: 2n * PRICE, upstreamCalls: 2, settlements: 2 };

async function isOpenStill(t: Test, answer: Response) {
  t.equal(answer.status, 409);
  t.match(await answer.json(), {
    error: { code: 'payment_in_progress', message: /Idempotency-Key.*nothing was charged/ },
  });
  t.match(answer.headers.get('retry-after'), /^\d+$/);
}

async function isReplayOf(t: Test, answer: Response, first: string) {
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('idempotency-replayed'), 'true');
  t.equal(await answer.text(), first);
}

for (const [name, protocol] of Object.entries(protocols)) {
  t.test(`${name}: a second payment under the key gets the first answer and receipt, and is not charged`, async (t) => {
    const { pay, send } = order(protocol);
    const since = await watch();
    const first = await send(await pay());
    const body = await first.text();
    t.equal(first.status, 200, body);
    const again = await send(await pay());
    for (const header of ['payment-response', 'payment-receipt'])
      t.equal(again.headers.get(header), first.headers.get(header));
    await isReplayOf(t, again, body);
    t.same(await since(), ONCE);
  });

  t.test(`${name}: a key of any length names the purchase`, async (t) => {
    const { pay, send } = order(protocol);
    const since = await watch();
    const long = { 'idempotency-key': 'k'.repeat(3_000) + name };
    const first = await (await send({ ...(await pay()), ...long })).text();
    await isReplayOf(t, await send({ ...(await pay()), ...long }), first);
    t.same(await since(), ONCE);
  });

  t.test(`${name}: a second payment is not charged while the first is worked on`, async (t) => {
    const { pay, send } = order(protocol);
    const since = await watch();
    const work = gateway.upstreams.gate.holdNext();
    const first = send(await pay());
    await work.reached;
    const second = await pay();
    await isOpenStill(t, await send(second));
    work.release();
    const body = await (await first).text();
    await isReplayOf(t, await send(second), body);
    t.same(await since(), ONCE);
  });

  t.test(`${name}: a second payment is not charged while nobody knows whether the first was settled`, async (t) => {
    const { pay, send } = order(protocol);
    const since = await watch();
    const [first, second] = [await pay(), await pay()];
    gateway.node.isDown = true;
    await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
    t.match(await (await send(first)).json(), { error: { code: 'settlement_pending' } });
    await isOpenStill(t, await send(second));
    gateway.node.isDown = false;
    const answer = await send(first);
    const body = await answer.text();
    t.equal(answer.status, 200, body);
    await isReplayOf(t, await send(second), body);
    t.same(await since(), ONCE);
  });

  t.test(`${name}: a second payment is not charged while the first lies where its instance died`, async (t) => {
    const { pay, send, sendOther } = order(protocol);
    const since = await watch();
    stoppedAt = Date.now();
    t.teardown(() => {
      stoppedAt = undefined;
      ahead = 0;
    });
    const [first, second] = [await pay(), await pay()];
    const settlement = gateway.settlements.holdNext();
    const lost = send(first);
    await settlement.reached;
    ahead = 40_000;
    gateway.node.isDown = true;
    await isOpenStill(t, await sendOther(second));
    gateway.node.isDown = false;
    const answer = await sendOther(second);
    const body = await answer.text();
    t.equal(answer.status, 200, body);
    t.equal(answer.headers.get('idempotency-replayed'), 'true', 'the chain shows that the first has paid');
    await isReplayOf(t, await sendOther(first), body);
    t.same(await since(), ONCE);
    settlement.release();
    await lost;
  });

  t.test(`${name}: a second payment buys where the first died before it was settled, and only then`, async (t) => {
    const { pay, send, sendOther } = order(protocol);
    const since = await watch();
    stoppedAt = Date.now();
    t.teardown(() => {
      stoppedAt = undefined;
      ahead = 0;
    });
    const [first, second] = [await pay(), await pay()];
    const work = gateway.upstreams.gate.holdNext();
    const lost = send(first);
    await work.reached;
    await isOpenStill(t, await sendOther(second));
    ahead = 40_000;
    const answer = await sendOther(second);
    const body = await answer.text();
    t.equal(answer.status, 200, body);
    t.equal(answer.headers.get('idempotency-replayed'), null);
    work.release();
    t.equal((await lost).status, 409, 'the first wakes up, and is settled no more');
    await isReplayOf(t, await sendOther(first), body);
    t.same(await since(), { ...ONCE, upstreamCalls: 2 });
  });

  t.test(`${name}: of payments under one key that come at once, to two instances, one is charged`, async (t) => {
    const { pay, send, sendOther } = order(protocol);
    const since = await watch();
    const proofs = await Promise.all(Array.from({ length: 6 }, () => pay()));
    const answers = await Promise.all(proofs.map((proof, index) => (index % 2 ? send(proof) : sendOther(proof))));
    const statuses = answers.map(({ status }) => status);
    t.ok(statuses.includes(200), 'one is answered');
    t.same(
      statuses.filter((status) => status !== 200 && status !== 409),
      [],
    );
    const bodies = await Promise.all(proofs.map(async (proof) => (await send(proof)).text()));
    t.equal(new Set(bodies).size, 1, 'all get one answer in the end');
    t.same(await since(), ONCE);
  });

  t.test(`${name}: a key belongs to one request: another one under it is refused and not charged`, async (t) => {
    const { pay, send, key } = order(protocol);
    const since = await watch();
    const body = await (await send(await pay())).text();
    const changed = order(protocol);
    const answer = await changed.send({ ...(await changed.pay()), ...key });
    t.equal(answer.status, 400);
    t.match(await answer.json(), { error: { code: 'invalid_request', message: /belongs to another request/ } });
    await isReplayOf(t, await send(await pay()), body);
    t.same(await since(), ONCE);
  });

  t.test(`${name}: nobody gets another payer's answer by its key`, async (t) => {
    const { pay, send } = order(protocol);
    const stranger = await another(PRICE);
    const since = await watch();
    t.equal((await send(await pay())).status, 200);
    const answer = await send(await pay(stranger));
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('idempotency-replayed'), null);
    t.same(await since(), TWICE);
  });

  t.test(`${name}: a first payment that bought nothing leaves the key to the second`, async (t) => {
    const { pay, send } = order(protocol);
    const [first, second] = [await pay(), await pay()];
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.equal((await send(first)).status, 500);
    const since = await watch();
    const answer = await send(second);
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('idempotency-replayed'), null);
    await isReplayOf(t, await send(first), await answer.text());
    t.same(await since(), ONCE);
  });
}

t.test('a second payment under the key gets what the first is owed, and is not charged', async (t) => {
  const key = { 'idempotency-key': 'a video' };
  const call = request(gateway, '/video/family-h-2.5', { prompt: 'a wave', duration: 4, resolution: '480p' });
  const pay = async () => ({ ...(await signProof(gateway, 'chain-a', call)), ...key });
  const [first, second] = [await pay(), await pay()];
  const earned = await gateway.earned('chain-a');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.match(await (await sendProof(call, first)).json(), { error: { code: 'result_owed' } });
  const answer = await sendProof(call, second);
  const body = await answer.text();
  t.equal(answer.status, 200, body);
  await isReplayOf(t, await sendProof(call, first), body);
  await isReplayOf(t, await sendProof(call, second), body);
  t.equal((await gateway.earned('chain-a')) - earned, 480_000n);
});

t.test('an answer that is given for another payment is noted of the one that bought it', async (t) => {
  const { pay, send } = order(protocols.x402);
  const store = new Database(join(gateway.directory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const find = store.prepare(
    'SELECT payment_id AS payment, (SELECT state FROM payments WHERE id = payment_id) AS state FROM paid_visits WHERE request_id = ?',
  );
  /** What is noted is written down a moment later. */
  const noted = async (answer: Response): Promise<{ payment: string; state: string | null }> => {
    const id = answer.headers.get('request-id');
    for (;;) {
      const [row] = find.all(id) as { payment: string; state: string | null }[];
      if (row) return { payment: row.payment, state: row.state };
      await delay(50);
    }
  };
  const first = await send(await pay());
  const again = await send(await pay());
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.same(await noted(again), { ...(await noted(first)), state: 'settled' });
});
