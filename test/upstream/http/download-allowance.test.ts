import t from 'tap';
import { openDownloadAllowance } from '../../../src/upstream/http/download-allowance.ts';
import { heapLeftBy } from '../../heap.ts';

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

t.test('reads as many bytes as it says, and of what is too much no more than the piece that shows it', async (t) => {
  const { allowance } = open();
  const first = allowance.begin('one');
  const second = allowance.begin('one');
  first.take(99);
  second.take(1);
  const spent = { message: 'More than 100 bytes of files in a minute: wait one, and send this again' };
  for (const { take } of [first, second]) t.throws(() => take(1), spent);
  first.end();
  t.throws(() => allowance.begin('one'), spent);
});

t.test('a minute begins with its first file, whenever that is', async (t) => {
  const { allowance, clock } = open();
  for (const start of [50_000, 500_000]) {
    clock.now = start;
    const file = allowance.begin('one');
    file.take(50);
    clock.now = start + 59_999;
    file.take(50);
    t.throws(() => file.take(1), /More than 100 bytes/);
    file.end();
    t.throws(() => allowance.begin('one'), /More than 100 bytes/);
    clock.now = start + 60_000;
    allowance.begin('one').end();
  }
});

t.test('a file that is read for minutes counts in each anew', async (t) => {
  const { allowance, clock } = open();
  const file = allowance.begin('one');
  for (let minute = 0; minute < 3; minute += 1) {
    clock.now = minute * 60_000;
    file.take(100);
    t.throws(() => file.take(1), /More than 100 bytes/);
  }
});

t.test('forgets who came a minute ago, also while others are served for long', async (t) => {
  const { allowance, clock } = open();
  const long = allowance.begin('long');
  const left = await heapLeftBy(() => {
    for (let number = 0; number < 10_000; number += 1) allowance.begin(`${number}`.padEnd(1000, '.')).end();
    clock.now = 60_000;
    long.take(1);
    allowance.begin('next').end();
  });
  t.ok(left < 2_000_000, `${left} bytes are kept of 10 MB of names`);
  long.end();
});
