import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { sqliteDialect } from '../../src/store/migrations.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { storeContract } from './contract.ts';
import { keepsOldRows, RELEASED_WITH_HEADERS, writeOldRows } from './migrations.ts';
import { claimAt, sampleFacts } from './samples.ts';

t.test('SQLite', async (t) => {
  storeContract(t, async (t) => {
    const file = join(t.testdir({}), 'folder', 'turnpike.sqlite');
    return async () => openSqliteStore(file);
  });
});

t.test('what older releases kept of settlements is read by this one', async (t) => {
  const file = join(t.testdir({}), 'old.sqlite');
  const database = new Database(file);
  await writeOldRows(sqliteDialect, async (sql) => database.exec(sql));
  database.exec(`PRAGMA user_version = ${RELEASED_WITH_HEADERS}`);
  database.close();
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  await keepsOldRows(t, store);
});

/** A process that works on payments; `ended` resolves with its exit code and signal. */
function startWriter(t: Test, file: string, owner: string, count: number) {
  const script = fileURLToPath(new URL('sqlite-writer.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import=tsx', script, file, owner, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return {
    lines: createInterface({ input: child.stdout }),
    ended: once(child, 'exit'),
    kill: () => child.kill('SIGKILL'),
  };
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

  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const order = ['claimed', 'fulfilled', 'settled'];
  const missing: string[] = [];
  for (const [id, state] of promised) {
    const payment = await store.find(id);
    if (!payment || order.indexOf(payment.state) < order.indexOf(state)) missing.push(`${id} was ${state}`);
  }
  t.same(missing, []);
  t.ok(promised.size >= 2_000);
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

t.test('keeps nothing of a store in memory', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  t.match(await store.claim(sampleFacts('brief'), claimAt(1)), { won: true });
  t.match(await store.find('brief'), { state: 'claimed' });
});

t.test('refuses an identifier that the database would cut short', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  await t.rejects(store.claim(sampleFacts('one\0two'), claimAt(1)), { message: /NUL/ });
  await t.rejects(store.find('one\0two'), { message: /NUL/ });
});

t.test('names the file, and what to do, when it comes from a newer release', async (t) => {
  const file = join(t.testdir({}), 'future.sqlite');
  const database = new Database(file);
  database.exec('PRAGMA user_version = 9999');
  database.close();
  t.throws(() => openSqliteStore(file), { message: /future\.sqlite cannot be used.*9999.*newer release/ });
});

t.test('names the file when it is no database or cannot be made', async (t) => {
  const folder = t.testdir({ 'text.sqlite': 'x'.repeat(5_000), file: '' });
  t.throws(() => openSqliteStore(join(folder, 'text.sqlite')), { message: /text\.sqlite cannot be used/ });
  t.throws(() => openSqliteStore(join(folder, 'file', 'below.sqlite')), { message: /below\.sqlite cannot be used/ });
});
