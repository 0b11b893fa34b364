import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
