/** What is let go, and what is not. */
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { letGo } from '../../src/gateway/keeping.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { FORGOTTEN } from '../../src/store/stored-answer.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const DAY_MS = 86_400_000;

t.test('files go once they are old enough, and none that a payment without an end may need', async (t) => {
  const dataDirectory = t.testdir({ media: {} });
  const now = 1_000 * DAY_MS;
  const store = openSqliteStore(':memory:', { now: () => now });
  t.teardown(() => store.close());
  const files = () => readdirSync(join(dataDirectory, 'media')).sort();
  const put = (name: string, days: number) => {
    writeFileSync(join(dataDirectory, 'media', name), name);
    const at = new Date(now - days * DAY_MS);
    utimesSync(join(dataDirectory, 'media', name), at, at);
  };
  const prune = (media: string) => letGo({ keep: { media } }, { dataDirectory, mediaBucket: undefined }, store);
  for (const [name, days] of [
    ['old.png', 90],
    ['needed.png', 70],
    ['new.png', 10],
  ] as const)
    put(name, days);
  put('.cut-off.part', 2);
  put('.under-way.part', 0);

  await prune('forever');
  t.same(files(), ['.under-way.part', 'needed.png', 'new.png', 'old.png'], 'only what was cut off');

  const older = await won(store, sampleFacts('unknown'), claimAt(now - 80 * DAY_MS));
  await store.fulfil(older, sampleAnswer(), { now: now - 80 * DAY_MS });
  await store.giveUp(older, 'unknown', 'no answer', now - 80 * DAY_MS);
  const newer = await won(store, sampleFacts('under way'), claimAt(now - 2 * DAY_MS));
  await store.fulfil(newer, sampleAnswer(), { now: now - 2 * DAY_MS });
  // It was asked about since the other one was touched.
  await store.resolve('unknown', { state: 'unknown', reason: 'no node' }, now - DAY_MS);
  await prune('60d');
  t.same(files(), ['.under-way.part', 'needed.png', 'new.png'], 'the first of them was made eighty days ago');

  await store.resolve('unknown', { state: 'refused', reason: 'expired' }, now);
  await prune('60d');
  t.same(files(), ['.under-way.part', 'new.png']);
});

t.test('what was left of work on a video by a process that was killed goes, wherever files are kept', async (t) => {
  const names = ['of-another', 'turnpike-ffmpeg-left', 'turnpike-ffmpeg-new'];
  const folders = t.testdir(Object.fromEntries(names.map((name) => [name, { video: 'a film' }])));
  const now = Date.now();
  for (const name of names.slice(0, 2)) utimesSync(join(folders, name), new Date(now - DAY_MS), new Date(now - DAY_MS));
  const { TMPDIR } = process.env;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  process.env.TMPDIR = folders;
  const store = openSqliteStore(':memory:', { now: () => now });
  t.teardown(() => store.close());
  const mediaBucket = { bucket: 'media' } as unknown as Parameters<typeof letGo>[1]['mediaBucket'];
  await letGo({}, { dataDirectory: t.testdirName, mediaBucket }, store);
  t.same(readdirSync(folders).sort(), ['of-another', 'turnpike-ffmpeg-new']);
});

t.test('a file stays as long as the answer that points at it, however late that was paid for', async (t) => {
  const dataDirectory = t.testdir({ media: { 'bought.png': 'picture' } });
  const made = 1_000 * DAY_MS;
  let now = made;
  const store = openSqliteStore(':memory:', { now: () => now });
  t.teardown(() => store.close());
  const files = () => readdirSync(join(dataDirectory, 'media'));
  utimesSync(join(dataDirectory, 'media', 'bought.png'), new Date(made), new Date(made));
  const pass = async (days: number) => {
    now = made + days * DAY_MS;
    await letGo({ keep: { answers: '1d', media: '1d' } }, { dataDirectory, mediaBucket: undefined }, store);
  };
  const claim = await won(store, sampleFacts('late'), claimAt(made));
  await store.fulfil(claim, sampleAnswer(), { now: made });
  await store.giveUp(claim, 'unknown', 'no answer', made);

  await pass(2);
  t.same(files(), ['bought.png'], 'nobody knows yet whether it is paid');
  await store.resolve('late', { state: 'settled', receipt: sampleReceipt() }, now);
  await pass(2.9);
  t.match(await store.find('late'), { state: 'settled', answer: sampleAnswer() });
  t.same(files(), ['bought.png'], 'its payer may still come for it');

  await pass(3.1);
  t.match(await store.find('late'), { answer: FORGOTTEN });
  t.same(files(), []);
});
