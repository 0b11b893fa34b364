import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { receiptOf, request, sendProof, signProof, signProofV1 } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

const gateway = await startGateway({ solanaNow: stoppedClock() });
t.teardown(gateway.stop);

const PRICE = 60_000n;
let made = 0;
const nextNumber = () => {
  made += 1;
  return made;
};
/** A request that no other test makes. */
const fresh = () => request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${nextNumber()}` });

for (const network of ['chain-c', 'chain-a']) {
  t.test(
    `ten concurrent requests with one proof on ${network} make one call, one settlement and ten equal answers`,
    async (t) => {
      const call = fresh();
      const proof = await signProof(gateway, network, call);
      const [before, earned] = [await gateway.calls(), await gateway.earned(network)];
      const answers = await Promise.all(Array.from({ length: 10 }, () => sendProof(call, proof)));
      const bodies = await Promise.all(answers.map((answer) => answer.text()));
      const after = await gateway.calls();
      t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
      t.equal(new Set(bodies).size, 1);
      t.equal(new Set(answers.map((answer) => receiptOf(answer).transaction)).size, 1);
      t.equal(after.upstreamCalls - before.upstreamCalls, 1);
      t.equal(after.settlementCount - before.settlementCount, 1);
      t.equal((await gateway.earned(network)) - earned, PRICE);
    },
  );
}

t.test('a settled payment gets its answer again, marked as a replay, without a new charge', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const first = await sendProof(call, proof);
  const body = await first.text();
  t.equal(first.headers.get('idempotency-replayed'), null);
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  const again = await sendProof(call, proof);
  t.equal(again.status, 200);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.headers.get('payment-response'), first.headers.get('payment-response'));
  t.equal(await again.text(), body);
  t.same(await gateway.calls(), before);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('the same authorization in other JSON is the same payment', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [name, value] = Object.entries(proof)[0] ?? ['', ''];
  await sendProof(call, proof);
  const before = await gateway.calls();
  const spaced = JSON.stringify(JSON.parse(Buffer.from(value, 'base64').toString()), null, 1);
  const again = await sendProof(call, { [name]: Buffer.from(spaced).toString('base64') });
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.same(await gateway.calls(), before);
});

t.test('a payment is good for its own request only', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  await sendProof(call, proof);
  const before = await gateway.calls();
  const answer = await sendProof(fresh(), proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /invalid-challenge$/, detail: /another request/ });
  t.ok(answer.headers.get('payment-required'));
  t.same(await gateway.calls(), before);
});

for (const [what, network, paid, other] of [
  ['path', 'chain-c', '/image/family-e-2', '/image/family-a-2-flex'],
  ['query', 'chain-a', '/stock/arb?sort=premium', '/stock/arb?sort=discount'],
] as const) {
  t.test(`a payment is good for its own ${what} only, where another costs as much`, async (t) => {
    const body = what === 'path' ? { prompt: `a lighthouse, number ${nextNumber()}` } : undefined;
    const call = request(gateway, paid, body);
    const proof = await signProof(gateway, network, call);
    t.equal((await sendProof(call, proof)).status, 200);
    const before = await gateway.calls();
    const answer = await sendProof(request(gateway, other, body), proof);
    t.equal(answer.status, 402);
    t.match(await answer.json(), { type: /invalid-challenge$/, detail: /another request/ });
    t.same(await gateway.calls(), before);
    t.equal((await sendProof(call, proof)).headers.get('idempotency-replayed'), 'true', 'it is still good for its own');
  });
}

t.test('a bought API key is shown again to who knows the challenge, and once where the chain shows all', async (t) => {
  const call = request(gateway, '/v1/credits', { amount_usd: '1' });
  for (const [sign, again] of [
    [signProof, 200],
    [signProofV1, 402],
  ] as const) {
    const proof = await sign(gateway, 'chain-c', call);
    const first = await sendProof(call, proof);
    const body = await first.text();
    t.equal(first.status, 200, body);
    t.match(JSON.parse(body), { api_key: /^tp_sandbox_/ });
    const before = await gateway.calls();
    const second = await sendProof(call, proof);
    t.equal(second.status, again);
    if (again === 200) t.equal(await second.text(), body);
    else
      t.match(await second.json(), {
        api_key: undefined,
        detail: /was given once; pay with version 2.*GET \/v1\/purchases/,
      });
    t.same(await gateway.calls(), before);
  }
});

t.test('who knows an authorization but not its signature gets nothing', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [name, value] = Object.entries(proof)[0] ?? ['', ''];
  await sendProof(call, proof);
  const forged = JSON.parse(Buffer.from(value, 'base64').toString());
  forged.payload.signature = `0x${'11'.repeat(65)}`;
  const answer = await sendProof(call, { [name]: Buffer.from(JSON.stringify(forged)).toString('base64') });
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail: /has been used/ });
});

t.test('a payment whose upstream failed may be used again, and is charged once', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const failed = await sendProof(call, proof);
  t.equal(failed.status, 500);
  t.match(await failed.json(), { error: { code: 'upstream_failed' } });
  t.equal(await gateway.earned('chain-c'), earned);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
});

t.test('a payment that failed three times has to be signed anew', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: '500', count: 3 });
  for (const _ of [1, 2, 3]) t.equal((await sendProof(call, proof)).status, 500);
  const before = await gateway.calls();
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail: /3 times.*never charged/ });
  t.same(await gateway.calls(), before);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('an answer that is asked for again and again leaves no more behind than an operator is shown', async (t) => {
  const data = t.testdir();
  const shop = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_DATA: data } });
  const call = request(shop, '/image/family-e-2', { prompt: 'a lighthouse' });
  const proof = await signProof(shop, 'chain-c', call);
  t.equal((await sendProof(call, proof)).status, 200);
  for (let round = 0; round < 15; round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendProof(call, proof)));
    t.same([...new Set(answers.map(({ status }) => status))], [200]);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  }
  // What was noted is written down by then.
  await shop.stop();
  const store = new Database(join(data, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const { rows } = store.prepare('SELECT COUNT(*) AS rows FROM paid_visits').get() as { rows: number };
  t.equal(rows, 100);
});
