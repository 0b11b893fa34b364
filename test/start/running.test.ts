import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigProblem } from '../../src/environment.ts';
import { findRunning, writeRunning } from '../../src/start/running.ts';

t.test('a note that was left by a gateway of another user is replaced, and not written to', async (t) => {
  const directory = t.testdir({});
  const running = { pid: process.pid, url: 'http://127.0.0.1:4020' };
  // It takes nothing from anybody, as another user's file takes nothing from this one.
  symlinkSync(join(directory, 'none', 'gateway.json'), join(directory, 'gateway.json'));
  const takeAway = writeRunning(directory, running);
  t.same(findRunning(directory), running);
  takeAway();
  t.equal(findRunning(directory), undefined);
});

t.test(
  'what stands in the place of the note and is no file is said to be taken away, and is not taken away',
  async (t) => {
    const directory = t.testdir({ 'gateway.json': { kept: '' } });
    const write = () => writeRunning(directory, { pid: process.pid, url: 'http://127.0.0.1:4020' });
    const file = join(directory, 'gateway.json');
    t.throws(write, new ConfigProblem([`${file} cannot be written (EISDIR): take away what has that name`]));
    t.ok(existsSync(join(file, 'kept')));
  },
);
