/** A machine that stood still, or whose clock was set: its clock jumps while calls are worked on. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

t.test('work goes on and is sold once, though its lease has run out in a moment', async (t) => {
  let ahead = 0;
  const gateway = await startRelayedGateway({
    networks: ['chain-c'],
    now: () => Date.now() + ahead,
    intervals: { reconcileEveryMs: 50 },
  });
  t.teardown(gateway.stop);
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const isLate = async () => {
    const [{ owner = '', leaseUntil = 0 } = {}] = await store.list({ limit: 1 });
    return owner !== '' && leaseUntil < Date.now() + ahead;
  };
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse on a machine that stood still' });
  const proof = await signProof(gateway, 'chain-c', call);
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  ahead = 600_000;
  while (await isLate()) await delay(20);
  work.release();
  const { status } = await answered;
  t.equal(status, 200);
  t.equal((await gateway.calls()).upstreamCalls, 1);
});

t.test(
  'whenever the clock jumps, between two looks at it, nothing that is worked on is taken for left behind',
  async (t) => {
    let ahead = 0;
    let looks = 0;
    let jumpAfter = Number.POSITIVE_INFINITY;
    const now = () => {
      looks += 1;
      if (looks > jumpAfter) ahead = 600_000;
      return Date.now() + ahead;
    };
    const gateway = await startRelayedGateway({ networks: ['chain-c'], now, intervals: { reconcileEveryMs: 10 } });
    t.teardown(gateway.stop);
    for (const more of Array(12).keys()) {
      const call = request(gateway, '/image/family-e-2', {
        prompt: `a lighthouse whose clock jumps after ${more} looks`,
      });
      const proof = await signProof(gateway, 'chain-c', call);
      const work = gateway.upstreams.gate.holdNext();
      const answered = sendProof(call, proof);
      await work.reached;
      jumpAfter = looks + more;
      // Long enough for all that goes on by itself to have looked.
      while (looks < jumpAfter + 40) await delay(5);
      work.release();
      t.equal((await answered).status, 200, `after ${more} looks`);
      jumpAfter = Number.POSITIVE_INFINITY;
      ahead = 0;
    }
  },
);

t.test('who sends a payment again just when the clock has jumped does not have it worked for twice', async (t) => {
  let ahead = 0;
  const gateway = await startRelayedGateway({
    networks: ['chain-c'],
    now: () => Date.now() + ahead,
    intervals: { waitMs: 100 },
  });
  t.teardown(gateway.stop);
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse that is asked for again' });
  const proof = await signProof(gateway, 'chain-c', call);
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  // Longer than a lease, and shorter than the payment is good.
  ahead = 40_000;
  t.equal((await sendProof(call, proof)).status, 409);
  work.release();
  t.equal((await answered).status, 200);
  t.equal((await gateway.calls()).upstreamCalls, 1);
});

t.test('nor who pays anew under the same key then', async (t) => {
  let ahead = 0;
  const gateway = await startRelayedGateway({ networks: ['chain-c'], now: () => Date.now() + ahead });
  t.teardown(gateway.stop);
  const { url, init } = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse under a key' });
  const call = { url, init: { ...init, headers: { ...init.headers, 'idempotency-key': 'one' } } };
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, await signProof(gateway, 'chain-c', call));
  await work.reached;
  const another = await signProof(gateway, 'chain-c', call);
  ahead = 40_000;
  t.equal((await sendProof(call, another)).status, 409);
  work.release();
  t.equal((await answered).status, 200);
  t.equal((await gateway.calls()).upstreamCalls, 1);
});
