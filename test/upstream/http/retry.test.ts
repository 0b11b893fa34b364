import t from 'tap';
import { jobDelay, jobSilence, pause, retryAfterMs, retryDelay } from '../../../src/upstream/http/retry.ts';

t.test(
  'tries twice again, after a pause that doubles and that chance makes half as long or half as long again',
  async (t) => {
    const cases: [attempt: number, random: number, delay: number | undefined][] = [
      [0, 0, 100],
      [0, 0.5, 200],
      [0, 1, 300],
      [1, 0, 200],
      [1, 0.5, 400],
      [1, 1, 600],
      [2, 0.5, undefined],
      [3, 0.5, undefined],
    ];
    for (const [attempt, random, delay] of cases) {
      t.equal(
        retryDelay(attempt, undefined, () => random),
        delay,
        `attempt ${attempt}, chance ${random}`,
      );
    }
  },
);

t.test('waits as long as the upstream asks for, where that is longer and no more than three seconds', async (t) => {
  const cases: [asked: number, delay: number | undefined][] = [
    [0, 200],
    [199, 200],
    [201, 201],
    [3000, 3000],
    [3001, undefined],
  ];
  for (const [asked, delay] of cases) {
    t.equal(
      retryDelay(0, asked, () => 0.5),
      delay,
      `${asked} ms`,
    );
  }
  t.equal(
    retryDelay(2, 0, () => 0.5),
    undefined,
    'it may ask for another attempt: there were enough',
  );
});

t.test(
  'asks of a job for half a minute, and when its provider says, however often and late and no sooner than after a pause',
  async (t) => {
    const cases: [attempt: number, asked: number | undefined, delay: number | undefined][] = [
      [0, 0, 200],
      [1, undefined, 400],
      [4, undefined, 3000],
      [11, undefined, 3000],
      [12, undefined, undefined],
      [12, 0, 3000],
      [99, 3001, 3001],
      [0, 1e15, 2 ** 31 - 1],
    ];
    for (const [attempt, asked, delay] of cases) {
      t.equal(
        jobDelay(attempt, asked, () => 0.5),
        delay,
        `attempt ${attempt}, ${asked} ms`,
      );
    }
  },
);

t.test('gives a provider that is silent until it has something to say longer each time', async (t) => {
  t.same([0, 1, 2, 3, 99].map(jobSilence), [30_000, 60_000, 120_000, 240_000, 240_000]);
});

t.test('reads seconds and dates, of what has passed as now, and nothing of anything else', async (t) => {
  const now = Date.UTC(2030, 0, 1, 12, 0, 0);
  const cases: [header: string | undefined, milliseconds: number | undefined][] = [
    [undefined, undefined],
    ['0', 0],
    ['2', 2000],
    ['0.5', 500],
    ['-3', 0],
    ['Tue, 01 Jan 2030 12:00:02 GMT', 2000],
    ['Tue, 01 Jan 2030 11:59:58 GMT', 0],
    ['soon', undefined],
    ['Infinity', undefined],
  ];
  for (const [header, milliseconds] of cases) t.equal(retryAfterMs(header, now), milliseconds, String(header));
});

t.test('a pause ends with the signal', async (t) => {
  const leaving = new AbortController();
  const paused = pause(60_000, leaving.signal);
  leaving.abort();
  await t.rejects(paused, { name: 'AbortError' });
  await t.rejects(pause(0, AbortSignal.abort()), { name: 'AbortError' });
  t.equal(await pause(1, new AbortController().signal), undefined);
});
