import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { startSqliteThread } from '../../../src/store/engines/sqlite-thread.ts';
import { wordsFor } from '../../words-for.ts';
import { finished } from '../arrivals.ts';
import { storeContract } from '../contract.ts';
import { pageOfMovements, pageOfPaid } from '../payments/books.ts';
import { manyPayments, pageOf } from '../payments/payers.ts';
import { claimAt, sampleFacts, sampleReceipt } from '../samples.ts';
import { leavesDamagedRowsAlone } from './damaged-rows.ts';

t.test('SQLite', async (t) => {
  const thread = startSqliteThread();
  t.teardown(() => thread.stop());
  storeContract(t, async (t) => {
    const file = join(t.testdir({}), 'folder', 'turnpike.sqlite');
    return () => thread.open(file);
  });
});

/** A database with 20,000 payments. */
async function withMany(t: Test) {
  const file = join(t.testdir({}), 'many.sqlite');
  await openSqliteStore(file).close();
  const database = new Database(file);
  t.teardown(() => database.close());
  const upTo = 'WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 20000)';
  database.exec(manyPayments(`${upTo} SELECT n FROM count`));
  return database;
}

t.test('finds a page of one payer in the index, however many payments there are', async (t) => {
  const database = await withMany(t);
  for (const analyzed of [false, true]) {
    if (analyzed) database.exec('ANALYZE');
    for (const payer of ['big', '0xsmall', 'nobody']) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${pageOf(payer)}`).all() as { detail: string }[];
      t.match(
        plan.map(({ detail }) => detail),
        [/^SEARCH payments USING INDEX payments_of_payer/],
        payer,
      );
      t.notMatch(
        plan.map(({ detail }) => detail).join('\n'),
        /TEMP B-TREE FOR ORDER BY/,
        'nothing is sorted but what is of one moment',
      );
    }
  }
});

t.test('reads the books in the order of an index, however much they have', async (t) => {
  const database = await withMany(t);
  database.exec('UPDATE payments SET settled_at = created_at');
  for (const analyzed of [false, true]) {
    if (analyzed) database.exec('ANALYZE');
    for (const [page, index] of [
      [pageOfPaid, 'payments_by_settlement'],
      [pageOfMovements, 'ledger_of_movements'],
    ] as const) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${page}`).all() as { detail: string }[];
      const details = plan.map(({ detail }) => detail).join('\n');
      t.match(details, new RegExp(`^SEARCH \\w+ USING INDEX ${index}`));
      t.notMatch(details, /TEMP B-TREE/, 'nothing is sorted');
    }
  }
});

t.test('names rows that cannot be read from its thread, too', async (t) => {
  const lines: object[] = [];
  const thread = startSqliteThread();
  t.teardown(() => thread.stop());
  const file = join(t.testdir({}), 'damaged.sqlite');
  const store = await thread.open(file, { log: { error: (details) => void lines.push(details) } });
  t.teardown(() => store.close());
  const database = new Database(file);
  t.teardown(() => database.close());
  database.exec('PRAGMA busy_timeout = 5000');
  await leavesDamagedRowsAlone(t, store, lines, async (sql) => database.exec(sql));
});

/**
 * A process that works on payments; `ended` resolves with its exit code and signal. No file that it writes grows beyond
 * `mostBlocks` of 512 bytes.
 */
function startWriter(t: Test, file: string, owner: string, count: number, mostBlocks = 'unlimited') {
  const command = [process.execPath, ...wordsFor('test/store/engines/sqlite-writer.ts'), file, owner, String(count)];
  const bounded = `ulimit -f ${mostBlocks}; exec "$@"`;
  const child = spawn('sh', ['-c', bounded, 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return {
    lines: createInterface({ input: child.stdout }),
    ended: once(child, 'exit'),
    kill: () => child.kill('SIGKILL'),
  };
}

/** What was promised of payments, by id, and is not there. */
async function missingOf(t: Test, file: string, promised: ReadonlyMap<string, string>): Promise<string[]> {
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const order = ['claimed', 'fulfilled', 'settled'];
  const missing: string[] = [];
  for (const [id, state] of promised) {
    const payment = await store.find(id);
    if (!payment || order.indexOf(payment.state) < order.indexOf(state)) missing.push(`${id} was ${state}`);
  }
  return missing;
}

t.test('loses nothing whose promise resolved when the process is killed', async (t) => {
  const file = join(t.testdir({}), 'killed.sqlite');
  const { lines, ended, kill } = startWriter(t, file, 'doomed', 1_000_000);
  const promised = new Map<string, string>();
  for await (const line of lines) {
    const [state = '', id = ''] = line.split(' ');
    promised.set(id, state);
    if (promised.size === 2_000) kill();
  }
  t.same(await ended, [null, 'SIGKILL']);
  t.same(await missingOf(t, file, promised), []);
  t.ok(promised.size >= 2_000);
});

t.test('counts each payment once, however often the process that counts is killed', async (t) => {
  const file = join(t.testdir({}), 'counted.sqlite');
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const MANY = 300;
  for (let each = 0; each < MANY; each += 1) await finished(store, `payment-${each}`);
  const amount = BigInt(sampleReceipt().amount);
  const isExact = async () => {
    const { sums } = await store.figures.money({ span: 'day', from: 0, to: 2_000_000_000_000 });
    t.match(sums, [{ settled: MANY, revenue: BigInt(MANY) * amount }]);
  };
  for (let kills = 0; kills < 4; kills += 1) {
    const child = spawn(process.execPath, [...wordsFor('test/store/figures/counter.ts'), file, '60'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let counted = 0;
    for await (const _ of createInterface({ input: child.stdout })) {
      counted += 1;
      if (counted === 20) child.kill('SIGKILL');
    }
    t.same(await ended, [null, 'SIGKILL']);
    await isExact();
  }
  while (await store.figures.count(50));
  await isExact();
});

t.test('refuses what there is no room for on the disk, and loses nothing that had its place', async (t) => {
  const file = join(t.testdir({}), 'full.sqlite');
  const { lines, ended } = startWriter(t, file, 'full', 5_000, '2000');
  const promised = new Map<string, string>();
  const refused = new Set<string>();
  for await (const line of lines) {
    const [state = '', id = ''] = line.split(' ');
    if (state === 'refused') refused.add(id);
    else promised.set(id, state);
  }
  t.same(await ended, [0, null], 'it goes on, and ends in order');
  t.same([...refused], ['store_unavailable']);
  t.ok(promised.size > 0);
  t.same(await missingOf(t, file, promised), []);
});

t.test('refuses what a damaged file has lost, and nothing else', async (t) => {
  const thread = startSqliteThread();
  t.teardown(() => thread.stop());
  const file = join(t.testdir({}), 'damaged.sqlite');
  const whole = await thread.open(file);
  const ids = Array.from({ length: 500 }, (_, index) => `payment-${index}`);
  await Promise.all(ids.map((id) => finished(whole, id)));
  await whole.close();
  const database = new Database(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const { size } = statSync(file);
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(size / 2, 'damage'), 0, size / 2, Math.floor(size / 2));
  closeSync(handle);

  const store = await thread.open(file);
  t.teardown(() => store.close());
  const asked = [
    ...ids.map((id) => store.find(id)),
    ...ids.map((id) => store.claim(sampleFacts(`new ${id}`), claimAt(1))),
  ];
  const refusals = (await Promise.allSettled(asked)).flatMap((ended) =>
    ended.status === 'rejected' ? [ended.reason] : [],
  );
  t.ok(refusals.length > 0);
  t.same(new Set(refusals.map(({ code }) => code)), new Set(['store_unavailable']));
  const other = await thread.open(join(t.testdirName, 'sound.sqlite'));
  t.teardown(() => other.close());
  t.match(await other.claim(sampleFacts('elsewhere'), claimAt(1)), { won: true });
});

t.test('a new file may be opened by many at once', async (t) => {
  const folder = t.testdir({});
  const threads = Array.from({ length: 4 }, () => startSqliteThread());
  t.teardown(() => Promise.all(threads.map((thread) => thread.stop())));
  for (let round = 0; round < 25; round += 1) {
    const file = join(folder, `opened-${round}.sqlite`);
    const stores = await Promise.allSettled(threads.map((thread) => thread.open(file)));
    t.same(
      stores.map((opened) => (opened.status === 'rejected' ? String(opened.reason) : 'opened')),
      threads.map(() => 'opened'),
    );
    for (const opened of stores) if (opened.status === 'fulfilled') await opened.value.close();
  }
});

t.test('gives each payment to one of three processes', async (t) => {
  const file = join(t.testdir({}), 'shared.sqlite');
  const count = 1_000;
  const winners = await Promise.all(
    ['one', 'two', 'three'].map(async (owner) => {
      const { lines, ended } = startWriter(t, file, owner, count);
      const won: string[] = [];
      for await (const line of lines) {
        if (line.startsWith('claimed ')) won.push(line);
      }
      t.same(await ended, [0, null]);
      return won;
    }),
  );
  const all = winners.flat();
  t.equal(all.length, count);
  t.equal(new Set(all).size, count);
});
