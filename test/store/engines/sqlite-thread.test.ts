/** SQLite on a thread of its own: whoever asks it is answered as by a store of its own. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { Problem } from '../../../src/errors.ts';
import { togetherInOneTurn } from '../../../src/store/engines/one-turn.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { startSqliteThread } from '../../../src/store/engines/sqlite-thread.ts';
import { finished } from '../arrivals.ts';
import { addFunded, keyOf, sampleHold } from '../credits/credit-samples.ts';
import { claimAt, sampleFacts } from '../samples.ts';
import { damageFile } from './damaged-file.ts';

const lines: [details: object, message: string][] = [];
const options = {
  now: () => 1_234,
  log: { error: (details: object, message: string) => void lines.push([details, message]) },
};
const thread = startSqliteThread();
t.teardown(() => thread.stop());

async function open(t: Test, { file = join(t.testdir({}), 'turnpike.sqlite'), on = thread } = {}) {
  const store = await on.open(file, options);
  t.teardown(() => store.close().catch(() => {}));
  return { store, file };
}

/** A thread for one test. */
function startAnother(t: Test) {
  const another = startSqliteThread();
  t.teardown(() => another.stop());
  return another;
}

t.test('what one turn hands over is passed on once, together and in its order', async (t) => {
  const passed: (readonly number[])[] = [];
  const hand = togetherInOneTurn<number>((items) => void passed.push(items));
  const turn = () => new Promise(setImmediate);
  for (const item of [1, 2, 3]) hand(item);
  t.same(passed, [], 'not before the end of the turn');
  await turn();
  await turn();
  t.same(passed, [[1, 2, 3]]);
  hand(4);
  await turn();
  t.same(passed, [[1, 2, 3], [4]]);
});

t.test('offers all that a store offers', async (t) => {
  const own = openSqliteStore(':memory:');
  t.teardown(() => own.close());
  const { store } = await open(t);
  const offered = (part: object): object =>
    Object.fromEntries(
      Object.entries(part)
        .sort()
        .map(([name, value]) => [name, typeof value === 'object' ? offered(value) : typeof value]),
    );
  t.same(offered(store), offered(own));
});

t.test('answers each caller what it asked, however many ask at once', async (t) => {
  const { store } = await open(t);
  const { store: other } = await open(t, { file: join(t.testdirName, 'other.sqlite') });
  await Promise.all([addFunded(store, 1_000n), store.keep('name', 'one', 1), other.keep('name', 'two', 1)]);
  const outcomes = await Promise.all([
    store.claim(sampleFacts('first'), claimAt(1)),
    store.credits.hold(sampleHold('call', 600n)),
    store.cached('name', 0),
    other.cached('name', 0),
    other.find('first'),
  ]);
  t.match(outcomes, [{ won: true }, { held: true }, { value: 'one' }, { value: 'two' }]);
  t.equal(outcomes[4], undefined, 'of another file');
  t.match(await keyOf(store), { balance: 400n, held: 600n });
});

t.test('goes by the clock that it is given', async (t) => {
  t.equal((await open(t)).store.now(), 1_234);
});

t.test('what is no outage fails with what was wrong and where, and nobody else with it', async (t) => {
  const { store } = await open(t);
  const [refused, claimed] = await Promise.allSettled([
    store.find('one\0two'),
    store.claim(sampleFacts('sound'), claimAt(1)),
  ]);
  t.match(claimed, { value: { won: true } });
  t.match(refused, { status: 'rejected', reason: { name: 'Error', message: /^A text .* contains a NUL/ } });
  const error = (refused as PromiseRejectedResult).reason;
  t.notOk(error instanceof Problem, 'it would be refused again');
  t.match(error.stack, /at checked \(/, 'where in the thread it was');
});

t.test('what cannot be handed over fails, and the next is served', async (t) => {
  const { store } = await open(t);
  const unspeakable = () => 'value';
  const error = await store.keep('key', unspeakable as unknown as string, 1).catch((error: unknown) => error);
  t.match(error, { name: 'Error', message: /could not be cloned/, stack: String });
  t.notOk(error instanceof Problem);
  await store.keep('key', 'value', 1);
  t.match(await store.cached('key', 0), { value: 'value' });
});

t.test('an outage can be told from a mistake, and a file that cannot be opened from both', async (t) => {
  const file = join(t.testdir({ 'text.sqlite': 'x'.repeat(5_000) }), 'damaged.sqlite');
  await damageFile(file);
  const { store } = await open(t, { file });
  const lost = await store.find('lost').catch((error: unknown) => error);
  t.ok(lost instanceof Problem);
  t.match(lost, { code: 'store_unavailable', cause: { message: /^SQLITE_CORRUPT: / } });
  const text = join(t.testdirName, 'text.sqlite');
  await t.rejects(thread.open(text), {
    name: 'StoreProblem',
    message: `The database file ${text} cannot be used: file is not a database`,
  });
});

t.test('what cannot be read is told to the log, and keeps nobody waiting', async (t) => {
  const { store, file } = await open(t);
  for (const id of ['bad', 'sound']) await finished(store, id);
  const database = new Database(file);
  t.teardown(() => database.close());
  database.exec(`PRAGMA busy_timeout = 5000; UPDATE payments SET amount = '1e6' WHERE id = 'bad'`);
  t.match(await store.list({ limit: 10 }), [{ id: 'sound' }]);
  t.match(lines, [[{ payment: 'bad' }, 'a payment in the database cannot be read, and is left alone']]);
});

t.test('waits for another process that writes to the file', async (t) => {
  const { store, file } = await open(t);
  const other = new Database(file);
  t.teardown(() => other.close());
  for (let isTooLong = true, tries = 1; isTooLong; tries += 1) {
    const from = performance.now();
    other.exec('BEGIN IMMEDIATE');
    const claimed = Promise.allSettled([store.claim(sampleFacts(`then ${tries}`), claimAt(1))]);
    // It waits however long this is, and gives up in it if it does not wait.
    await Promise.race([claimed, delay(100)]);
    other.exec('COMMIT');
    // Nobody waits for longer than five seconds.
    isTooLong = performance.now() - from >= 5_000;
    if (!isTooLong) t.match(await claimed, [{ value: { won: true } }]);
  }
});

t.test('keeps a process from its end while somebody waits for an answer, and no longer', async (t) => {
  const isKept = () => process.getActiveResourcesInfo().includes('MessagePort');
  const another = startAnother(t);
  t.equal(isKept(), false, 'nobody has asked yet');
  const { store, file } = await open(t, { on: another });
  t.equal(isKept(), false);
  const writer = new Database(file);
  t.teardown(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  const found = store.find('one');
  t.equal(isKept(), true);
  await new Promise(setImmediate);
  const claimed = store.claim(sampleFacts('one'), claimAt(1));
  await found;
  t.equal(isKept(), true, 'the second waits still');
  writer.exec('COMMIT');
  await claimed;
  t.equal(isKept(), false);
});

t.test('once it has ended nobody waits for it, and all read that the database is gone', async (t) => {
  const another = startAnother(t);
  const { store } = await open(t, { on: another });
  const gone = { code: 'store_unavailable', cause: { message: 'the thread of the database has ended' } };
  const underWay = [store.find('one'), store.credits.listKeys(1)];
  await another.stop();
  for (const ended of await Promise.allSettled(underWay)) t.match(ended, { status: 'rejected', reason: gone });
  await t.rejects(store.find('later'), gone);
  await t.rejects(another.open(join(t.testdirName, 'later.sqlite')), gone);
});

t.test('says why it failed where it fails', async (t) => {
  const { NODE_OPTIONS: before = '' } = process.env;
  process.env.NODE_OPTIONS = `${before} --require=${join(t.testdir({}), 'missing.cjs')}`;
  const broken = startSqliteThread();
  process.env.NODE_OPTIONS = before;
  const failed = {
    code: 'store_unavailable',
    cause: { message: /^the thread of the database failed: Cannot find module .*missing\.cjs/ },
  };
  await t.rejects(broken.open(join(t.testdirName, 'turnpike.sqlite')), failed);
  await broken.stop();
  await t.rejects(broken.open(join(t.testdirName, 'turnpike.sqlite')), failed, 'and goes on to say so');
});

/** A thread that dies once it is told to, as one whose memory is full. */
function startMortal(t: Test) {
  const told = `end-${randomUUID()}`;
  const file = join(t.testdir({ 'mortal.cjs': mortal(told) }), 'mortal.cjs');
  const { NODE_OPTIONS: before = '' } = process.env;
  process.env.NODE_OPTIONS = `${before} --require=${file}`;
  const thread = startSqliteThread();
  process.env.NODE_OPTIONS = before;
  const channel = new BroadcastChannel(told);
  t.teardown(async () => {
    channel.close();
    await thread.stop();
  });
  return { thread, die: () => channel.postMessage('now') };
}

const mortal = (channel: string) => `
  const { isMainThread } = require('node:worker_threads');
  if (!isMainThread) {
    const told = new BroadcastChannel(${JSON.stringify(channel)});
    told.onmessage = () => process.exit(1);
    told.unref();
  }`;

t.test('one that dies is begun anew, with all that was written before', async (t) => {
  const { thread: on, die } = startMortal(t);
  const { store } = await open(t, { file: join(t.testdirName, 'turnpike.sqlite'), on });
  const { store: closed } = await open(t, { file: join(t.testdirName, 'another.sqlite'), on });
  await closed.close();
  t.equal((await store.claim(sampleFacts('one'), claimAt(1))).won, true);
  lines.length = 0;
  die();
  const isBack = async () => (await store.find('one').catch(() => undefined)) !== undefined;
  while (!(lines.length > 0 && (await isBack()))) await delay(5);
  t.match(await store.find('one'), { id: 'one', state: 'claimed' });
  t.same(lines, [
    [{ reason: 'the thread of the database has ended' }, 'the database is opened anew for the next question'],
  ]);
  t.equal((await store.credits.listKeys(1)).length, 0, 'and all of it can be asked');
  await t.rejects(closed.find('one'), { code: 'store_unavailable' }, 'what was closed stays closed');
});

t.test('a database that cannot be opened anew is told of with the reason', async (t) => {
  const { thread: on, die } = startMortal(t);
  const file = join(t.testdirName, 'turnpike.sqlite');
  const { store } = await open(t, { file, on });
  t.equal((await store.claim(sampleFacts('one'), claimAt(1))).won, true);
  lines.length = 0;
  die();
  while (lines.length === 0) await delay(5);
  const kept = new Database(file);
  kept.exec('PRAGMA user_version = 9999');
  kept.close();
  while (lines.length === 1) {
    await t.rejects(store.find('one'), { code: 'store_unavailable' });
    await delay(5);
  }
  t.match(lines[1], [{ reason: /turnpike\.sqlite cannot be used: .*9999.*newer release/ }]);
});
