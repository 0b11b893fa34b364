import { mock } from 'node:test';
import t from 'tap';
import { openDatabaseClock } from '../../../src/store/engines/database-clock.ts';

t.test('tells the time of the database, whatever this machine takes it to be', async (t) => {
  const clock = await openDatabaseClock(async () => 5_000_000);
  const before = clock.now();
  t.ok(before >= 5_000_000 && Number.isInteger(before));
  mock.timers.enable({ apis: ['Date'], now: 1 });
  t.teardown(() => mock.timers.reset());
  mock.timers.setTime(90_000_000);
  const after = clock.now();
  t.ok(after >= before && after < before + 60_000, 'a clock that jumps changes nothing');
});

t.test(
  'goes by the middle of the way that an answer was on, and follows the database when it is read again',
  async (t) => {
    let here = 1_000;
    const machine = mock.method(performance, 'now', () => here);
    t.teardown(() => machine.mock.restore());
    let there = 5_000_000;
    let wayMs = 20;
    const clock = await openDatabaseClock(async () => {
      here += wayMs;
      return there;
    });
    t.equal(clock.now(), 5_000_010);
    here += 100;
    t.equal(clock.now(), 5_000_110);

    there = 9_000_000;
    wayMs = 1_001;
    const before = here;
    await clock.read();
    t.equal(
      clock.now(),
      5_000_110 + here - before,
      'an answer that was longer than a second on its way says too little',
    );
    wayMs = 1_000;
    await clock.read();
    t.equal(clock.now(), 9_002_500, 'of three that were as long on their way the first counts');
  },
);

t.test('of a few answers goes by the one that was shortest on its way: the first waits for a connection', async (t) => {
  let here = 1_000;
  const machine = mock.method(performance, 'now', () => here);
  t.teardown(() => machine.mock.restore());
  const ways = [900, 40, 60, 15, 700];
  let asked = 0;
  /** The database's clock is 5,000,000 ahead, and is read when the answer sets out. */
  const clock = await openDatabaseClock(async () => {
    const wayMs = ways[asked] ?? 0;
    asked += 1;
    here += wayMs;
    return 5_000_000 + here - Math.min(wayMs, 5);
  });
  t.equal(asked, 3);
  t.equal(clock.now(), 5_000_000 + here + 15);
  await clock.read();
  t.equal(asked, 4, 'one that comes at once is enough');
});

t.test('tells whole milliseconds', async (t) => {
  let here = 0.25;
  const machine = mock.method(performance, 'now', () => here);
  t.teardown(() => machine.mock.restore());
  const clock = await openDatabaseClock(async () => 5_000_000);
  here = 1.5;
  t.equal(clock.now(), 5_000_001);
});
