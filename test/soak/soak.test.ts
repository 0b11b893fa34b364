import t from 'tap';
import { soak } from './soak.ts';

t.test('eight callers with random valid requests get valid answers only, and no 500', async (t) => {
  const { calls, faults, groups } = await soak({ seconds: 5, warmUp: false });
  t.same([...faults.keys()], []);
  const results = groups.reduce((sum, { statuses }) => sum + (statuses.get(200) ?? 0), 0);
  t.not(results, 0, `${results} results in ${calls} calls`);
});
