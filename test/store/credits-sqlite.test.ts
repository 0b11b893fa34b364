import { join } from 'node:path';
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { creditsContract } from './credits-contract.ts';

t.test('credits in SQLite', async (t) => {
  creditsContract(t, async (t) => {
    const file = join(t.testdir({}), 'turnpike.sqlite');
    return async () => openSqliteStore(file);
  });
});
