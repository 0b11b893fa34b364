import t from 'tap';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { startPostgres } from '../../postgres.ts';
import { openDatabases } from '../engines/databases.ts';
import { creditsContract } from './credits-contract.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
const emptyDatabase = openDatabases(url);

t.test('credits in Postgres', async (t) => {
  creditsContract(t, async (t) => {
    const database = await emptyDatabase(t);
    return () => openPostgresStore(database);
  });
});
