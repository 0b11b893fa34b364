/** Work that takes longer than the claim on its payment first lasts. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openStore } from '../../../src/store/open.ts';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

/** Once set, no time goes by but `ahead`. */
let stoppedAt: number | undefined;
let clock = () => Date.now();
const gateway = await startRelayedGateway({ networks: ['chain-c'], now: () => clock() });
t.teardown(gateway.stop);
let ahead = 0;
/** How much the second instance's clock jumps each time it is read. */
let jump = 0;
const other = await gateway.startAnother(() => {
  ahead += jump;
  return (stoppedAt ?? Date.now()) + ahead;
});

const PRICE = 60_000n;
const image = (prompt: string) => request(gateway, '/image/family-e-2', { prompt });
const toOther = (call: PaidCall): PaidCall => ({ ...call, url: call.url.replace(gateway.url, other) });

t.test('work is not overtaken while its instance lives, however long it takes', async (t) => {
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  const leaseUntil = async () => (await store.list({ states: ['claimed'], limit: 1 }))[0]?.leaseUntil ?? 0;
  const call = image('a lighthouse that takes its time');
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  const first = await leaseUntil();
  clock = () => Date.now() + 60_000;
  while ((await leaseUntil()) === first) await delay(50);
  // The second instance waits for the first, until its own patience ends.
  ahead = 40_000;
  t.ok(Date.now() + ahead > first, 'the first lease has run out');
  jump = 1_000;
  const { status } = await sendProof(toOther(call), proof);
  jump = 0;
  work.release();
  t.equal(status, 409);
  t.equal((await answered).status, 200);
  t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
});

t.test('an attempt that was overtaken settles nothing and sells nothing', async (t) => {
  // Stopped before it is signed: the payment outlives the work by either clock.
  const now = Date.now();
  stoppedAt = now;
  clock = () => now;
  ahead = 0;
  const call = image('a lighthouse whose keeper slept');
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const work = gateway.upstreams.gate.holdNext();
  const overtaken = sendProof(call, proof);
  await work.reached;
  ahead = 40_000;
  const answer = await sendProof(toOther(call), proof);
  const body = await answer.text();
  t.equal(answer.status, 200, body);
  work.release();
  const late = await overtaken;
  t.equal(late.status, 409);
  t.match(await late.json(), { error: { code: 'payment_in_progress' } });
  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await again.text(), body, 'there is one answer');
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  t.equal((await gateway.calls()).settlementCount - before.settlementCount, 1);
});
