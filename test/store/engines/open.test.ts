import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { openStore, prepareStore } from '../../../src/store/open.ts';
import { claimAt, sampleFacts } from '../samples.ts';

/** The threads that are started during the test. */
function threadsOf(t: Test): Worker[] {
  const threads: Worker[] = [];
  const add = (thread: Worker) => void threads.push(thread);
  process.on('worker', add);
  t.teardown(() => process.off('worker', add));
  return threads;
}

t.test(
  'one thread waits for the disk, whatever is open, and is begun beforehand without touching a file',
  async (t) => {
    const threads = threadsOf(t);
    const folder = join(t.testdir({}), 'data');
    await prepareStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    t.equal(threads.length, 0, 'Postgres needs none');
    await Promise.all([prepareStore({}), prepareStore({})]);
    // Node tells of a thread a turn after it began.
    await new Promise(setImmediate);
    // Other files of tests in this process may have begun it.
    const begun = threads.length;
    t.ok(begun <= 1, 'one for both who asked');
    t.notOk(existsSync(folder));
    const [store, another] = await Promise.all(
      ['one', 'two'].map((name) => openStore({ file: join(folder, `${name}.sqlite`), now: () => 1_234 })),
    );
    if (!store || !another) throw new Error('both should be open');
    t.ok(existsSync(join(folder, 'one.sqlite')), 'where no database is named, all is in the file');
    t.teardown(() => another.close());
    t.equal(store.now(), 1_234);
    const claimed = store.claim(sampleFacts('last'), claimAt(1));
    await store.close();
    t.match(await claimed, { won: true }, 'what was asked is done before a store is closed');
    t.match(await another.claim(sampleFacts('other'), claimAt(1)), { won: true }, 'and the others stay open');
    const next = await openStore({ file: join(folder, 'one.sqlite') });
    t.teardown(() => next.close());
    t.match(await next.find('last'), { state: 'claimed' });
    t.equal(await next.find('other'), undefined);
    t.equal(threads.length, begun);
  },
);

t.test('what is in memory needs no thread', async (t) => {
  const threads = threadsOf(t);
  const store = await openStore({ file: ':memory:', now: () => 1_234 });
  t.teardown(() => store.close());
  t.equal(store.now(), 1_234);
  t.match(await store.claim(sampleFacts('brief'), claimAt(1)), { won: true });
  t.equal(threads.length, 0);
});

t.test('uses no file when a database is named, also where that cannot be used', async (t) => {
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  await t.rejects(openStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', file }), {
    name: 'StoreProblem',
    message: /Postgres/,
  });
  t.notOk(existsSync(file));
});
