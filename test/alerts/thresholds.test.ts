/** What is told of days and of keys. */
import t, { type Test } from 'tap';
import { openAlerts } from '../../src/alerts/alerts.ts';
import type { AlertsFile } from '../../src/catalogue/types.ts';
import { won } from '../store/arrivals.ts';
import { addFunded, sampleHold, sampleKey } from '../store/credits/credit-samples.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';
import { quietParts } from './quiet-parts.ts';

const MIDNIGHT = Date.UTC(2026, 10, 23);
const MINUTE_MS = 60_000;

/** `told` at that time, all that was so far, the oldest first. */
async function watching(t: Test, settings: Omit<AlertsFile, 'webhooks'>) {
  let time = MIDNIGHT - 60 * MINUTE_MS;
  const parts = quietParts(t, () => time, settings);
  const { store } = parts;
  const { tasks } = await openAlerts(parts);
  async function told(at: number): Promise<unknown[]> {
    time = at;
    const [, count] = tasks;
    await count?.[1]();
    return (await store.alerts.list({ limit: 10 })).reverse().map(({ body }) => JSON.parse(body).data);
  }
  return { store, told };
}

t.test('what a day spends is told, also where it is known after midnight', async (t) => {
  const { store, told } = await watching(t, { spendAbove: '0.10' });
  async function sell(id: string, cost: string, at: number): Promise<void> {
    const claim = await won(store, sampleFacts(id), claimAt(at));
    await store.fulfil(claim, sampleAnswer(), { cost, now: at });
    await store.settle(claim, { ...sampleReceipt(), settledAt: at }, at);
  }
  const film = await won(store, sampleFacts('film', { settleUpfront: true }), claimAt(MIDNIGHT - 20 * MINUTE_MS));
  await store.settle(film, { ...sampleReceipt(), settledAt: MIDNIGHT - 20 * MINUTE_MS }, MIDNIGHT - 20 * MINUTE_MS);
  await sell('picture', '0.06', MIDNIGHT - 20 * MINUTE_MS);
  t.same(await told(MIDNIGHT - MINUTE_MS), []);
  await store.fulfil(film, sampleAnswer(), { cost: '0.05', now: MIDNIGHT + MINUTE_MS });
  await sell('another', '0.06', MIDNIGHT + MINUTE_MS);
  const yesterday = { day: '2026-11-22', dollars: '0.11', threshold: '0.10' };
  t.same(await told(MIDNIGHT + 2 * MINUTE_MS), [yesterday]);
  t.same(await told(MIDNIGHT + 3 * MINUTE_MS), [yesterday], 'once');
});

t.test('a key whose call is under way has what the call will leave of what it holds', async (t) => {
  const { store, told } = await watching(t, { creditBelow: '1' });
  await addFunded(store, 2_000_000n);
  const at = MIDNIGHT - 30 * MINUTE_MS;
  await store.credits.hold(sampleHold('call', 1_500_000n, { now: at, leaseUntil: at + MINUTE_MS }));
  t.same(await told(at), []);
  await store.credits.settle('call', { price: 10_000n, note: 'used' }, at + 1);
  t.same(await told(at + MINUTE_MS), []);
  await store.credits.hold(sampleHold('dear', 1_500_000n, { now: at, leaseUntil: at + MINUTE_MS }));
  await store.credits.settle('dear', { price: 1_500_000n, note: 'used' }, at + 2);
  t.match(await told(at + 2 * MINUTE_MS), [{ key: 'key', dollars: '0.49', threshold: '1' }]);
});

t.test('a key that has never had anything is told of once it has had too little', async (t) => {
  const { store, told } = await watching(t, { creditBelow: '1' });
  const at = MIDNIGHT - 30 * MINUTE_MS;
  await store.credits.addKey(sampleKey('key'), undefined, at);
  t.same(await told(at), []);
  await store.credits.grant('key', { amount: 500_000n, reference: 'given', note: 'given' }, at);
  t.match(await told(at + MINUTE_MS), [{ key: 'key', dollars: '0.5', threshold: '1' }]);
});
