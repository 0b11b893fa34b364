import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { asked, MANY, settledPayments, sumsExactly } from './many.ts';

t.test('with a hundred thousand payments, nothing that the console asks reads them all', async (t) => {
  const file = join(t.testdir({}), 'many.sqlite');
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const database = new Database(file);
  t.teardown(() => database.close());
  database.exec('PRAGMA synchronous = OFF');
  const upTo = `WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${MANY})`;
  database.exec(settledPayments(`${upTo} SELECT n FROM count`));
  for (const analyzed of [false, true]) {
    if (analyzed) database.exec('ANALYZE');
    for (const [what, sql] of asked) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
      const details = plan.map(({ detail }) => detail).join('\n');
      // What an index of few rows holds may be read whole: its condition leaves out all others.
      t.notMatch(
        details,
        /SCAN (payments|p|r|refunds|ledger|money_totals|paid_visits)\b(?! USING INDEX (refunds_open|payments_by_owner|\w+_to_count))/,
        what,
      );
      if (sql.includes('payment-9') && !details.includes('payments_by_owner'))
        t.notMatch(details, / FOR ORDER BY/, `${what} comes in order`);
    }
  }
  await sumsExactly(t, store);
});
