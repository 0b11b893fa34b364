/** What SQLite's file holds besides what this release has written, and how it is read. */
import { join } from 'node:path';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { openSqliteStore, type SqliteOptions } from '../../../src/store/engines/sqlite.ts';
import type { Row } from '../../../src/store/engines/statement.ts';
import { datedReceipts } from '../../../src/store/migrations/dated-receipts.ts';
import { migrationsFrom, sqliteDialect } from '../../../src/store/migrations/migrations.ts';
import { listPayments } from '../../../src/store/payments/payment-list-statements.ts';
import type { PaymentFilter } from '../../../src/store/store.ts';
import { chargesWithItsReceipt } from '../channels/channels.ts';
import { saysWhereSumsLackSome } from '../figures/figures.ts';
import { manyPayments, written } from '../payments/payers.ts';
import { leavesDamagedRowsAlone } from './damaged-rows.ts';

/** A store, and another connection to its file. */
function openBoth(t: Test, options: SqliteOptions = {}) {
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const store = openSqliteStore(file, options);
  t.teardown(() => store.close());
  const database = new Database(file);
  t.teardown(() => database.close());
  database.exec('PRAGMA busy_timeout = 5000');
  return { store, database };
}

/** A database with the tables of the newest release, and nothing in them. */
function emptyTables(t: Test): Database.Database {
  const database = new Database(':memory:');
  t.teardown(() => database.close());
  for (const migration of migrationsFrom(0, sqliteDialect)) {
    if (typeof migration === 'string') database.exec(migration);
  }
  return database;
}

t.test('a receipt that does not say when it settled is in the books at its payment’s last change', async (t) => {
  const database = emptyTables(t);
  const receipts = {
    whole: '{"settledAt":7}',
    broken: '{"settledAt":',
    silent: '{}',
    nothing: 'null',
    vague: '{"settledAt":"7"}',
    'between two moments': '{"settledAt":7.5}',
  };
  database.exec(manyPayments('SELECT 100 AS n'));
  for (const [id, receipt] of Object.entries(receipts)) {
    database.exec(manyPayments('SELECT 5 AS n'));
    database.prepare(`UPDATE payments SET id = ?1, receipt = ?2 WHERE id = 'payment-5'`).run([id, receipt]);
  }
  const steps = datedReceipts();
  for (let next = steps.next(); !next.done; ) {
    const { text, values } = next.value;
    const statement = database.prepare(text);
    const rows = statement.reader ? (statement.all([...values]) as Row[]) : [];
    if (!statement.reader) statement.run([...values]);
    next = steps.next({ rows, changes: 0 });
  }
  const dated = database.prepare('SELECT id, settled_at FROM payments ORDER BY id').all() as Row[];
  t.same(Object.fromEntries(dated.map((row) => [row.id, row.settled_at])), {
    whole: 7,
    broken: 5,
    silent: 5,
    nothing: 5,
    vague: 5,
    'between two moments': 5,
    'payment-100': null,
  });
});

t.test('rows that cannot be read are in nobody’s way: each is named once, and left alone', async (t) => {
  const lines: object[] = [];
  const { store, database } = openBoth(t, { log: { error: (details) => void lines.push(details) } });
  await leavesDamagedRowsAlone(t, store, lines, async (sql) => database.exec(sql));
});

t.test('charges a channel together with the receipt of its payment, or not at all', async (t) => {
  const { store, database } = openBoth(t);
  await chargesWithItsReceipt(t, store, async () => {
    database.exec(
      `CREATE TRIGGER breaking BEFORE UPDATE OF receipt ON payments BEGIN SELECT RAISE(ABORT, 'broken'); END`,
    );
    return () => database.exec('DROP TRIGGER breaking');
  });
});

t.test('says where sums lack some of what is not counted', async (t) => {
  const { store, database } = openBoth(t);
  await saysWhereSumsLackSome(t, store, async (from, to) => {
    const numbers = `WITH RECURSIVE count(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM count WHERE n < ${to})`;
    database.exec(`${manyPayments(`${numbers} SELECT n FROM count`)}; UPDATE payments SET settled_at = created_at`);
  });
});

t.test('finds a list by the index that leads to the fewest payments', async (t) => {
  const database = emptyTables(t);
  const some = { payer: 'p', route: 'r', network: 'n' };
  const lists: [filter: Partial<PaymentFilter>, index: string][] = [
    [{}, 'payments_by_age'],
    [{ since: 5 }, 'payments_by_age'],
    [{ before: { createdAt: 5, id: 'a' } }, 'payments_by_age'],
    [{ states: ['released'] }, 'payments_by_state'],
    [{ states: ['settled'] }, 'payments_by_age'],
    [{ states: ['settled', 'owed'] }, 'payments_by_age'],
    [{ states: ['claimed', 'owed'] }, 'payments_by_age'],
    [{ states: ['claimed'] }, 'payments_by_owner'],
    [{ network: 'n', route: 'r', states: ['claimed', 'fulfilled'] }, 'payments_by_owner'],
    [{ network: 'n' }, 'payments_by_network'],
    [{ network: 'n', states: ['settled', 'owed'] }, 'payments_by_network'],
    [{ network: 'n', states: ['owed'] }, 'payments_by_state'],
    [{ route: 'r' }, 'payments_by_route'],
    [{ route: 'r', network: 'n' }, 'payments_by_route'],
    [{ route: 'r', network: 'n', states: ['settled'] }, 'payments_by_route'],
    [{ route: 'r', network: 'n', states: ['owed'] }, 'payments_by_state'],
    [{ payer: 'p' }, 'payments_of_payer'],
    [{ payer: '0xP', states: ['owed'] }, 'payments_of_payer'],
    [{ ...some, states: ['settled', 'owed'] }, 'payments_of_payer'],
    [{ transaction: 't' }, 'payments_by_transaction'],
    [{ ...some, transaction: 't', states: ['settled'] }, 'payments_by_transaction'],
    [{ leaseBefore: 5 }, 'payments_by_owner'],
    [{ ...some, leaseBefore: 5, states: ['claimed'] }, 'payments_by_owner'],
    [{ leaseBefore: 5, oldest: true, states: ['claimed', 'fulfilled', 'settled'] }, 'payments_by_owner'],
  ];
  const plan = (filter: Partial<PaymentFilter>) =>
    (
      database.prepare(`EXPLAIN QUERY PLAN ${written(listPayments({ limit: 20, ...filter }))}`).all() as {
        detail: string;
      }[]
    ).map(({ detail }) => detail);
  // What is of one moment is put in its order, and nothing else.
  const isSorted = (details: string[]) => details.some((detail) => detail.includes('TEMP B-TREE FOR ORDER BY'));
  for (const [filter, index] of lists) {
    const details = plan(filter);
    const name = JSON.stringify(filter);
    t.match(details[0], new RegExp(`^(SEARCH|SCAN) payments USING INDEX ${index}\\b`), name);
    const isInOrder = filter.transaction === undefined && index !== 'payments_by_owner';
    t.equal(isSorted(details), !isInOrder, `${name}: sorted only where few are found`);
  }
});
