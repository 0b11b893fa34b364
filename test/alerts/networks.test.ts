/** Of a network that is not offered any more nobody can say that somebody settles there. */
import t from 'tap';
import { openAlerts } from '../../src/alerts/alerts.ts';
import { createLog } from '../../src/log.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';

t.test('a network that is taken out while nobody settles there is not told to be up before it is back', async (t) => {
  let time = Date.UTC(2026, 10, 22);
  const now = () => time;
  const store = openSqliteStore(':memory:', { now });
  t.teardown(() => store.close());
  async function startWith(facilitators: ReadonlyMap<string, boolean>): Promise<string[]> {
    const { tasks } = await openAlerts({
      settings: () => ({ webhooks: [{ url: 'https://ops.example/' }] }),
      delivery: undefined,
      store,
      worth: () => 0n,
      idOf: (network) => network,
      facilitators: () => facilitators,
      circuits: () => new Map(),
      gas: async () => new Map(),
      everyMs: 1_000,
      log: createLog('silent'),
      now,
    });
    time += 60_000;
    const [watch] = tasks;
    await watch?.[1]();
    return (await store.alerts.list({ limit: 10 })).map(({ type }) => type);
  }
  t.same(await startWith(new Map([['chain-x', false]])), ['facilitator.down']);
  t.same(await startWith(new Map([['chain-y', true]])), ['facilitator.down']);
  t.same(await startWith(new Map([['chain-x', true]])), ['facilitator.up', 'facilitator.down']);
});
