import t from 'tap';
import { soak } from './soak.ts';

t.test('eight callers with random valid requests get valid answers only, and no 500', async (t) => {
  const { calls, faults, groups } = await soak({ seconds: 5, warmUp: false });
  t.same([...faults.keys()], []);
  t.ok(calls > 50, `${calls} calls`);
  for (const { name, statuses } of groups) t.ok(statuses.has(200), name);
});
