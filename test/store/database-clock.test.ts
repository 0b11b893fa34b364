import { mock } from 'node:test';
import t from 'tap';
import { openDatabaseClock } from '../../src/store/database-clock.ts';

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
    let wayMs = 60;
    const clock = await openDatabaseClock(async () => {
      here += wayMs;
      return there;
    });
    t.equal(clock.now(), 5_000_030);
    here += 100;
    t.equal(clock.now(), 5_000_130);

    there = 9_000_000;
    wayMs = 1_001;
    await clock.read();
    t.equal(clock.now(), 5_001_131, 'an answer that was longer than a second on its way says too little');
    wayMs = 1_000;
    await clock.read();
    t.equal(clock.now(), 9_000_500);
  },
);

t.test('tells whole milliseconds', async (t) => {
  let here = 0.25;
  const machine = mock.method(performance, 'now', () => here);
  t.teardown(() => machine.mock.restore());
  const clock = await openDatabaseClock(async () => 5_000_000);
  here = 1.5;
  t.equal(clock.now(), 5_000_001);
});
