import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
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

t.test('follows the database when it is read again, and no answer that was long on its way', async (t) => {
  let time = 1_000_000;
  let waysMs = 0;
  const clock = await openDatabaseClock(async () => {
    await delay(waysMs);
    return time;
  });
  time = 9_000_000;
  waysMs = 1_100;
  await clock.read();
  t.ok(clock.now() < 2_000_000, 'not yet');
  waysMs = 0;
  while (clock.now() < 9_000_000) await clock.read();
});
