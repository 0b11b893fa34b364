import t from 'tap';
import { tellConditions } from '../../src/alerts/conditions.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';

t.test('what goes on holding is written at once for all, however many keys are low', async (t) => {
  let time = Date.UTC(2026, 10, 22);
  const store = openSqliteStore(':memory:', { now: () => time });
  t.teardown(() => store.close());
  let raised = 0;
  const alerts = {
    ...store.alerts,
    raise: (...given: Parameters<typeof store.alerts.raise>) => {
      raised += 1;
      return store.alerts.raise(...given);
    },
  };
  const round = async (count: number) => {
    time += 60_000;
    const news = Array.from({ length: count }, (_, place) => ({
      ...{ type: 'credit.low' as const, about: `key_${place}`, data: {} },
    }));
    const settings = { webhooks: [{ url: 'https://ops.example/' }] };
    await tellConditions(alerts, settings, { types: ['credit.low'], news, now: time, heldMs: 90_000 });
    return [raised, (await store.alerts.list({ limit: 100 })).length, (await store.alerts.raised()).length];
  };
  t.same(await round(50), [50, 50, 50]);
  for (let rounds = 0; rounds < 3; rounds += 1) t.same(await round(51), [51, 51, 51], 'each is told once');
  await round(2);
  t.same(await round(2), [51, 51, 2], 'and what nobody sees any more is over');
  t.same(await round(3), [52, 52, 3], 'until it comes again');
});
