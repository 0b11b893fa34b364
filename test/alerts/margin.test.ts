/** What an endpoint loses is told once, however often the gateway is started meanwhile. */
import t from 'tap';
import { openAlerts } from '../../src/alerts/alerts.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';
import { quietParts } from './quiet-parts.ts';

const HOUR_MS = 3_600_000;

t.test('an endpoint that loses is told once, also where its sales were days before a start', async (t) => {
  let time = Date.UTC(2026, 10, 22, 12);
  const parts = quietParts(t, () => time, { marginOver: 2 });
  const { store } = parts;
  let sold = 0;
  async function sell(...costs: readonly string[]): Promise<void> {
    for (const cost of costs) {
      sold += 1;
      const claim = await won(store, sampleFacts(`sale ${sold}`), claimAt(time));
      await store.fulfil(claim, sampleAnswer(), { cost, now: time });
      await store.settle(claim, { ...sampleReceipt(), settledAt: time }, time);
    }
  }
  let { tasks } = await openAlerts(parts);
  async function told(hours: number): Promise<number> {
    time += hours * HOUR_MS;
    const [, count] = tasks;
    await count?.[1]();
    return (await store.alerts.list({ limit: 10 })).length;
  }
  await sell('0.09', '0.09');
  t.equal(await told(1), 1);
  ({ tasks } = await openAlerts(parts));
  t.equal(await told(72), 1, 'of its sales nothing is known any more');
  await sell('0.09');
  t.equal(await told(1), 1, 'nor of enough');
  await sell('0.09');
  t.equal(await told(1), 1, 'it loses as before');
  await sell('0.01', '0.01');
  t.equal(await told(1), 1);
  await sell('0.09', '0.09');
  t.equal(await told(1), 2, 'and is told again after it earned');
});
