import t from 'tap';
import { openDownloadAllowance } from '../../../src/upstream/http/download-allowance.ts';

function open() {
  const clock = { now: 0 };
  const allowance = openDownloadAllowance({ mostAtOnce: 2, bytesPerMinute: 100, now: () => clock.now });
  return { clock, allowance };
}

t.test('reads so many files at a time for one caller, whatever others have read', async (t) => {
  const { allowance } = open();
  const first = allowance.begin('one');
  allowance.begin('one');
  t.throws(() => allowance.begin('one'), /At most 2 files/);
  allowance.begin('other');
  first.end();
  allowance.begin('one');
});

t.test('counts the bytes of a minute, also those of files that were broken off', async (t) => {
  const { allowance, clock } = open();
  const file = allowance.begin('one');
  file.take(60);
  file.take(60);
  t.throws(() => file.take(1), /More than 100 bytes/);
  file.end();
  t.throws(() => allowance.begin('one'), /More than 100 bytes/);
  allowance.begin('other').end();
  clock.now = 60_000;
  allowance.begin('one').take(100);
});

t.test('a file that is read into the next minute keeps its place', async (t) => {
  const { allowance, clock } = open();
  allowance.begin('one');
  allowance.begin('one');
  clock.now = 120_000;
  t.throws(() => allowance.begin('one'), /At most 2 files/);
});
