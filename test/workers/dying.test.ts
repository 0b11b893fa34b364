/** Workers that cannot live. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { groupOf, startMain } from '../started.ts';
import { startWorkers } from './gateway.ts';

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has died of itself meanwhile, with those who started it.
  }
}

t.test('what keeps workers from starting is said once, and ends all', async (t) => {
  const gateway = await startWorkers(t, 2, { LOG_LEVEL: 'error' });
  const second = startMain({ ...gateway.environment, TURNPIKE_ADMIN_PORT: '0' });
  t.equal(await second.ended, 1);
  t.equal(second.output().match(/The port \d+ is taken/g)?.length, 1);

  // Whoever comes after them dies as well, until nobody is left to hope for.
  while (gateway.run.child.exitCode === null) {
    for (const pid of gateway.pids()) kill(pid);
    await delay(20);
  }
  t.equal(await gateway.run.ended, 1);
  t.match(gateway.run.output(), /^The workers die one after the other: the last one was killed/m);
  t.same(groupOf(gateway.leader), []);
});

t.test('workers do not outlive their primary', async (t) => {
  const gateway = await startWorkers(t, 2, { LOG_LEVEL: 'error' });
  process.kill(gateway.primary(), 'SIGKILL');
  await gateway.run.ended;
  while (groupOf(gateway.leader).length > 0) await delay(20);
  await t.rejects(fetch(gateway.url));
});
