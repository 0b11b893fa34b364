import { join } from 'node:path';
import t from 'tap';
import { startSqliteThread } from '../../../src/store/engines/sqlite-thread.ts';
import { creditsContract } from './credits-contract.ts';

t.test('credits in SQLite', async (t) => {
  const thread = startSqliteThread();
  t.teardown(() => thread.stop());
  creditsContract(t, async (t) => {
    const file = join(t.testdir({}), 'turnpike.sqlite');
    return () => thread.open(file);
  });
});
