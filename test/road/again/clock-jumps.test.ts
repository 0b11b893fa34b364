/** A machine that stood still, or whose clock was set: its clock jumps while calls are worked on. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import type { GatewayOptions } from '../../gateway.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

/** Longer than a lease. Hardly: the rest of the 45 seconds that a payment may lie before the work is the machine's. */
const LAPSED_MS = 31_000;

type Options = Pick<GatewayOptions, 'intervals'> & { readonly headers?: Readonly<Record<string, string>> };

/** A call that is worked on, of a gateway whose clock can be set ahead. */
async function atWork(t: Test, { intervals = {}, headers = {} }: Options = {}) {
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const gateway = await startRelayedGateway({ networks: ['chain-c'], now, intervals });
  t.teardown(gateway.stop);
  const { url, init } = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse on a machine that stood still' });
  const call = { url, init: { ...init, headers: { ...init.headers, ...headers } } };
  const proof = await signProof(gateway, 'chain-c', call);
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  const endsSoldOnce = async () => {
    work.release();
    t.equal((await answered).status, 200);
    t.equal((await gateway.calls()).upstreamCalls, 1);
  };
  return { gateway, clock, now, call, proof, endsSoldOnce };
}

t.test('work goes on and is sold once, though its lease has run out in a moment', async (t) => {
  const { gateway, clock, now, endsSoldOnce } = await atWork(t, { intervals: { reconcileEveryMs: 50 } });
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const isLate = async () => {
    const [{ owner = '', leaseUntil = 0 } = {}] = await store.list({ limit: 1 });
    return owner !== '' && leaseUntil < now();
  };
  clock.ahead = 600_000;
  while (await isLate()) await delay(20);
  await endsSoldOnce();
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
  const { clock, call, proof, endsSoldOnce } = await atWork(t, { intervals: { waitMs: 100 } });
  clock.ahead = LAPSED_MS;
  t.equal((await sendProof(call, proof)).status, 409);
  await endsSoldOnce();
});

t.test('nor who pays anew under the same key then', async (t) => {
  const { gateway, clock, call, endsSoldOnce } = await atWork(t, { headers: { 'idempotency-key': 'one' } });
  const another = await signProof(gateway, 'chain-c', call);
  clock.ahead = LAPSED_MS;
  t.equal((await sendProof(call, another)).status, 409);
  await endsSoldOnce();
});

t.test(
  "what a gateway had under way that died while its clock was ahead is the next one's, whose clock is right",
  async (t) => {
    const { gateway, call, proof } = await atWork(t);
    // What is on the disk is what a gateway leaves that is killed now.
    const data = t.testdir({});
    const left = new Database(join(gateway.directory, 'turnpike.sqlite'));
    left.exec(`VACUUM INTO '${join(data, 'turnpike.sqlite')}'`);
    left.close();
    const copy = new Database(join(data, 'turnpike.sqlite'));
    t.equal(copy.prepare('UPDATE payments SET lease_until = lease_until + 259200000').run().changes, 1);
    t.teardown(() => copy.close());
    copy.exec('PRAGMA busy_timeout = 5000');
    let ahead = 0;
    const next = await gateway.startAnother(() => Date.now() + ahead, undefined, data, { waitMs: 100 });
    const leaseUntil = () => (copy.prepare('SELECT lease_until AS at FROM payments').get() as { at: number }).at;
    while (leaseUntil() > Date.now() + LAPSED_MS) await delay(20);
    ahead = LAPSED_MS;
    const again = { ...call, url: call.url.replace(gateway.url, next) };
    const answer = await sendProof(again, proof);
    t.equal(answer.status, 200, await answer.text());
  },
);
