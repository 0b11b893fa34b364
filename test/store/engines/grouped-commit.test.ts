import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { groupedCommit } from '../../../src/store/engines/grouped-commit.ts';

function openNumbers(t: Test) {
  const database = new Database(join(t.testdir({}), 'numbers.sqlite'));
  t.teardown(() => database.close());
  database.exec(`PRAGMA foreign_keys = ON;
    CREATE TABLE numbers (n INTEGER PRIMARY KEY, parent INTEGER REFERENCES numbers (n) DEFERRABLE INITIALLY DEFERRED)`);
  const insert = database.prepare('INSERT INTO numbers (n, parent) VALUES (?1, ?2)');
  const numbers = () =>
    database
      .prepare('SELECT n FROM numbers ORDER BY n')
      .all()
      .map((row) => (row as { n: number }).n);
  return { database, numbers, add: (n: number, parent: number | null = null) => insert.run([n, parent]).changes };
}

t.test('commits the operations of one turn together, and tells each caller its own result', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  const events: string[] = [];
  const results = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const result = await run(() => {
        events.push(`ran ${n}`);
        add(n);
        return n * 10;
      });
      events.push(`told ${n}`);
      return result;
    }),
  );
  t.same(results, [10, 20, 30]);
  t.same(events, ['ran 1', 'ran 2', 'ran 3', 'told 1', 'told 2', 'told 3']);
  t.same(numbers(), [1, 2, 3]);
});

t.test('undoes an operation that throws half-way, and keeps the others', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  const outcomes = await Promise.allSettled([
    run(() => add(1)),
    run(() => {
      add(2);
      throw new Error('half-way');
    }),
    run(() => add(1)),
    run(() => add(3)),
  ]);
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  t.match(outcomes[1], { reason: { message: 'half-way' } });
  t.same(numbers(), [1, 3]);
});

t.test('rejects everybody when the commit fails, and serves the next turn', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  const outcomes = await Promise.allSettled([run(() => add(1)), run(() => add(2, 77))]);
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.same(numbers(), []);
  t.equal(await run(() => add(3)), 1);
  t.same(numbers(), [3]);
});

t.test('rejects everybody with why the database gave up the whole transaction, and serves the next turn', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  await run(() => add(1));
  const giveUp = database.prepare('INSERT OR ROLLBACK INTO numbers (n) VALUES (?1)');
  const outcomes = await Promise.allSettled([run(() => add(2)), run(() => giveUp.run([1])), run(() => add(3))]);
  t.match(
    outcomes,
    Array.from({ length: 3 }, () => ({ status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })),
  );
  t.same(numbers(), [1]);
  t.equal(await run(() => add(4)), 1);
  t.same(numbers(), [1, 4]);
});

t.test('commits at once when asked to, and nothing more at the end of the turn', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run, flush } = groupedCommit(database);
  const written = [run(() => add(1)), run(() => add(2), 'process')];
  flush();
  t.same(numbers(), [1, 2]);
  database.close();
  t.same(await Promise.all(written), [1, 1]);
  await new Promise(setImmediate);
});

t.test('rejects everybody while another process holds the file', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  const other = new Database(join(t.testdirName, 'numbers.sqlite'));
  t.teardown(() => other.close());
  database.exec('PRAGMA busy_timeout = 0');
  other.exec('BEGIN IMMEDIATE');
  const outcomes = await Promise.allSettled([run(() => add(1)), run(() => add(2))]);
  t.match(outcomes, [{ reason: { code: 'SQLITE_BUSY' } }, { reason: { code: 'SQLITE_BUSY' } }]);
  other.exec('ROLLBACK');
  t.equal(await run(() => add(3)), 1);
  t.same(numbers(), [3]);
});

t.test('waits for the disk only where something in the turn has to outlive a power failure', async (t) => {
  const { database, numbers, add } = openNumbers(t);
  const { run } = groupedCommit(database);
  database.exec('PRAGMA synchronous = FULL');
  const patience = () => (database.pragma('synchronous') as { synchronous: number }[])[0]?.synchronous;
  const FULL = 2;
  const NORMAL = 1;
  const during = (n: number) => () => {
    add(n);
    return patience();
  };
  t.same(await Promise.all([run(during(1), 'process'), run(during(2), 'process')]), [NORMAL, NORMAL]);
  t.same(await Promise.all([run(during(3), 'process'), run(during(4))]), [FULL, FULL]);
  t.equal(await run(during(5)), FULL);
  await t.rejects(run(() => add(5), 'process'));
  t.equal(await run(during(6)), FULL, 'also after one that did not');
  t.same(numbers(), [1, 2, 3, 4, 5, 6]);
});

t.test('brings to the disk within a moment what was not waited for', async (t) => {
  const { database, add } = openNumbers(t);
  database.exec('PRAGMA journal_mode = WAL');
  const { run } = groupedCommit(database);
  await run(() => add(7), 'process');
  /** What is there without the log: the checkpoint that empties it has waited for the disk. */
  const count = () => {
    const file = join(t.testdirName, 'copy.sqlite');
    copyFileSync(join(t.testdirName, 'numbers.sqlite'), file);
    const copy = new Database(file);
    const found = copy.prepare('SELECT n FROM numbers').all().length;
    copy.close();
    return found;
  };
  t.equal(count(), 0);
  while (count() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(count(), 1);
  await run(() => add(8), 'process');
  t.equal(count(), 1);
  while (count() === 1) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(count(), 2, 'and so each time');
});
