import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

t.test('keeps its state in the file when no database is named', async (t) => {
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  const store = await openStore({ file });
  t.teardown(() => store.close());
  t.match(await store.claim(sampleFacts('local'), claimAt(1)), { won: true });
  t.ok(existsSync(file));
});

t.test('waits for the disk on a thread, which does what it was asked and ends when the store is closed', async (t) => {
  const threads = threadsOf(t);
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const store = await openStore({ file, now: () => 1_234 });
  t.equal(store.now(), 1_234);
  t.equal(threads.length, 1);
  const ended = Promise.all(threads.map((thread) => once(thread, 'exit')));
  const claimed = store.claim(sampleFacts('last'), claimAt(1));
  await store.close();
  t.match(await claimed, { won: true });
  await ended;
  const next = await openStore({ file });
  t.teardown(() => next.close());
  t.match(await next.find('last'), { state: 'claimed' });
});

t.test('a thread that was begun beforehand touches no file, and is the one of the next store', async (t) => {
  const threads = threadsOf(t);
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  await prepareStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
  t.equal(threads.length, 0, 'Postgres needs none');
  await Promise.all([prepareStore({}), prepareStore({})]);
  const store = await openStore({ file: ':memory:' });
  t.teardown(() => store.close());
  // Node tells of a thread a turn after it began.
  await new Promise(setImmediate);
  t.equal(threads.length, 1, 'one for both who asked, and none for what is in memory');
  t.notOk(existsSync(dirname(file)));
  const next = await openStore({ file, now: () => 1_234 });
  t.equal(next.now(), 1_234);
  t.equal(threads.length, 1);
  const ended = Promise.all(threads.map((thread) => once(thread, 'exit')));
  await next.close();
  await ended;
  const another = await openStore({ file });
  t.teardown(() => another.close());
  t.equal(threads.length, 2);
});

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
