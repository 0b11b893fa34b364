/** What is said and done while the database cannot be used. */
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { Problem } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { isOutage, reasonOf, StoreProblem, storeUnavailable } from '../../../src/store/problem.ts';
import { watchStore } from '../../../src/store/readiness.ts';
import { throughOutage } from '../../../src/store/through-outage.ts';

/** Timers go off when the test winds them on, those of modules that named their import, too. */
function stopTimers(t: Test): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  syncBuiltinESMExports();
  t.teardown(() => {
    mock.timers.reset();
    syncBuiltinESMExports();
  });
}

/** Long enough for what is ready to go on. */
const pass = () => new Promise(setImmediate);

t.test('tells a database that may be used again from everything else that fails', async (t) => {
  t.equal(isOutage(storeUnavailable('the disk is full')), true);
  t.equal(isOutage(new Problem('internal_error')), false);
  t.equal(isOutage(Object.assign(new Error('looks like it'), { code: 'store_unavailable' })), false);
});

t.test('a caller reads when to come again, and nothing of the reason', async (t) => {
  const problem = storeUnavailable('disk /srv is full');
  t.match(problem, { code: 'store_unavailable', status: 503, headers: { 'retry-after': '5' } });
  t.notMatch(problem.message, /srv/);
});

t.test('what cannot be opened says so by its name, with what was behind it', async (t) => {
  const cause = new Error('not a file');
  const problem = new StoreProblem('cannot be used', { cause });
  t.match(problem, { name: 'StoreProblem', message: 'cannot be used', cause });
});

t.test('the log reads the reason, however deep it lies', async (t) => {
  const refused = (address: string) => new Error(`connect ECONNREFUSED ${address}`);
  const cases: readonly [error: unknown, reason: string][] = [
    [new Error('disk is full'), 'disk is full'],
    [storeUnavailable('disk is full'), 'disk is full'],
    [new Problem('internal_error', 'said to all'), 'said to all'],
    [new Error('outer', { cause: new Error('inner') }), 'outer'],
    [
      new AggregateError([refused('::1'), refused('127.0.0.1')]),
      'connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1',
    ],
    ['a word', 'a word'],
    [undefined, 'undefined'],
  ];
  for (const [error, reason] of cases) t.equal(reasonOf(error), reason);
});

function watch(t: Test, check?: () => Promise<void>) {
  const clock = { here: 1_000_000, there: 1_000_000 };
  const store = openSqliteStore(':memory:', { now: () => clock.there });
  t.teardown(() => store.close());
  const lines: [level: string, details: object, message: string][] = [];
  const write = (level: string) => (details: object, message: string) => void lines.push([level, details, message]);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const readiness = watchStore(check ? { check, now: store.now } : store, log, () => clock.here);
  return { clock, store, lines, readiness };
}

t.test('a gateway is ready where its database can be written and their clocks agree', async (t) => {
  const { readiness, lines } = watch(t);
  await readiness.check();
  t.equal(readiness.fault(), undefined);
  t.same(lines, []);
});

t.test('a gateway is not ready whose clock is more than five seconds off, before or behind', async (t) => {
  const { clock, readiness } = watch(t);
  const wrong = "this machine's clock is not the database's";
  const cases = [
    [5_000, undefined],
    [5_001, wrong],
    [-5_000, undefined],
    [-5_001, wrong],
  ] as const;
  for (const [aheadMs, fault] of cases) {
    clock.here = clock.there + aheadMs;
    await readiness.check();
    t.equal(readiness.fault(), fault, `${aheadMs} ms`);
  }
});

t.test('the operator reads once why it is not ready, and once that it is again', async (t) => {
  let failure: Error | undefined = new Error('disk is full');
  const { clock, lines, readiness } = watch(t, async () => {
    if (failure) throw failure;
  });
  await readiness.check();
  await readiness.check();
  t.equal(readiness.fault(), 'the database cannot be used');
  failure = undefined;
  clock.here += 6_000;
  await readiness.check();
  clock.here -= 6_000;
  await readiness.check();
  await readiness.check();
  t.equal(readiness.fault(), undefined);
  t.same(lines, [
    ['error', { reason: 'disk is full' }, 'the database cannot be used'],
    ['error', { aheadMs: 6_000 }, "this machine's clock is not the database's"],
    ['info', {}, 'the store is ready again'],
  ]);
});

t.test('a gateway is not ready whose database is closed', async (t) => {
  const { store, readiness } = watch(t);
  await store.close();
  await readiness.check();
  t.equal(readiness.fault(), 'the database cannot be used');
});

t.test('a database that has not answered for five seconds cannot be used', async (t) => {
  stopTimers(t);
  const { lines, readiness } = watch(t, () => new Promise(() => {}));
  const checked = readiness.check();
  mock.timers.tick(4_999);
  await pass();
  t.equal(readiness.fault(), undefined);
  mock.timers.tick(1);
  await checked;
  t.equal(readiness.fault(), 'the database cannot be used');
  t.same(lines, [['error', { reason: 'no answer for 5000 ms' }, 'the database cannot be used']]);
});

t.test('once the database has answered, nothing waits for it that would keep the process from its end', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const { readiness } = watch(t);
  const before = timers();
  await readiness.check();
  t.equal(timers(), before);
});

/** A write that is refused as long as there are failures left; what has become of it. */
function write(t: Test, ...failures: Error[]) {
  let tries = 0;
  let now = 0;
  const clock = mock.method(performance, 'now', () => now);
  t.teardown(() => clock.mock.restore());
  stopTimers(t);
  const written = throughOutage(async () => {
    tries += 1;
    const failure = failures.shift();
    if (failure) throw failure;
    return 'written';
  });
  return {
    written,
    tries: () => tries,
    async windOn(ms: number) {
      await pass();
      now += ms;
      mock.timers.tick(ms);
      await pass();
    },
  };
}

const outage = () => storeUnavailable('the server starts');

t.test('what was paid for is written again after a pause, for as long as the database is away', async (t) => {
  const { written, tries, windOn } = write(t, outage(), outage());
  await windOn(499);
  t.equal(tries(), 1);
  await windOn(1);
  t.equal(tries(), 2);
  await windOn(500);
  t.equal(await written, 'written');
  t.equal(tries(), 3);
});

t.test('no mistake is made a second time', async (t) => {
  const { written, tries } = write(t, new Error('no such column'));
  await t.rejects(written, { message: 'no such column' });
  t.equal(tries(), 1);
});

t.test('nobody waits longer than ten seconds for a database that stays away', async (t) => {
  const { written, tries, windOn } = write(t, outage(), outage(), storeUnavailable('still starting'));
  const refused = t.rejects(written, { code: 'store_unavailable', cause: { message: 'still starting' } });
  await windOn(10_000);
  t.equal(tries(), 2, 'tried in the last moment, and once more');
  await windOn(500);
  await refused;
  t.equal(tries(), 3);
});
