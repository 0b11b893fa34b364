import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { findRunning } from '../../src/start/running.ts';
import { printed, startProgram } from '../started.ts';
import { wordsFor } from '../words-for.ts';

t.test('a gateway of which one worker takes calls is found by commands, and told what to sell', async (t) => {
  const data = t.testdir({});
  const run = startProgram(process.execPath, wordsFor('test/workers/half-started.ts'), { DATA: data });
  t.teardown(async () => {
    process.kill(-(run.child.pid ?? 0), 'SIGKILL');
    await run.ended;
  });
  while (!findRunning(data)) await delay(20);
  t.match(findRunning(data), { pid: run.child.pid, url: 'http://127.0.0.1:4020', catalogue: 'first' });
  process.kill(run.child.pid ?? 0, 'SIGHUP');
  t.match(await printed(run, /is sold now/), /^catalogue second is sold now: 1 endpoints$/m);
  t.match(findRunning(data), { catalogue: 'second' });
  t.notMatch(run.output(), /^ready /m);
});

t.test('what is loaded as all is ended is no error in the log', async (t) => {
  const data = t.testdir({});
  const run = startProgram(process.execPath, wordsFor('test/workers/half-started.ts'), { DATA: data, HANGS: '' });
  t.teardown(() => run.child.kill('SIGKILL'));
  while (!findRunning(data)) await delay(20);
  run.child.kill('SIGHUP');
  await printed(run, /^loading$/m);
  run.child.kill('SIGTERM');
  t.equal(await run.ended, 0);
  t.notMatch(run.output(), /"level":50|was sold before/);
});
