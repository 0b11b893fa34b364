/** Of a network that is not offered any more nobody can say that somebody settles there. */
import t from 'tap';
import { openAlerts } from '../../src/alerts/alerts.ts';
import { quietParts } from './quiet-parts.ts';

t.test('a network that is taken out while nobody settles there is not told to be up before it is back', async (t) => {
  let time = Date.UTC(2026, 10, 22);
  const parts = quietParts(t, () => time);
  async function startWith(facilitators: ReadonlyMap<string, boolean>): Promise<string[]> {
    const { tasks } = await openAlerts({ ...parts, facilitators: () => facilitators });
    time += 60_000;
    const [watch] = tasks;
    await watch?.[1]();
    return (await parts.store.alerts.list({ limit: 10 })).map(({ type }) => type);
  }
  t.same(await startWith(new Map([['chain-x', false]])), ['facilitator.down']);
  t.same(await startWith(new Map([['chain-y', true]])), ['facilitator.down']);
  t.same(await startWith(new Map([['chain-x', true]])), ['facilitator.up', 'facilitator.down']);
});
