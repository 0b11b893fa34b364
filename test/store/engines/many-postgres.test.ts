import pg from 'pg';
import t from 'tap';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { startPostgres } from '../../postgres.ts';
import { asked, MANY, settledPayments, sumsExactly } from './many.ts';

t.test('with a hundred thousand payments, nothing that the console asks reads them all', async (t) => {
  const { url, stop } = await startPostgres();
  t.teardown(stop);
  const store = await openPostgresStore(url);
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(async () => {
    await client.end();
    await store.close();
  });
  await client.query('SET synchronous_commit TO OFF');
  await client.query(settledPayments(`SELECT n FROM generate_series(1, ${MANY}) AS n`));
  await client.query('ANALYZE');
  for (const [what, sql] of asked) {
    const { rows } = await client.query(`EXPLAIN ${sql}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    t.notMatch(plan, /Seq Scan on payments/, `${what}: ${plan}`);
  }
  await sumsExactly(t, store);
});
