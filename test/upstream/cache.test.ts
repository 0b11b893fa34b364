import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../src/store/engines/postgres.ts';
import { openCache } from '../../src/upstream/cache.ts';
import { startPostgres } from '../postgres.ts';
import { openCallContext } from './call-context.ts';

function open(t: Test) {
  const clock = { now: 1_000 };
  const { cache: opened, signal } = openCallContext(t, { now: () => clock.now });
  const cache = {
    through: <Value>(key: string, maxAgeMs: number, fetch: () => Promise<Value>, until = signal) =>
      opened.through(key, maxAgeMs, fetch, until),
  };
  let fetched = 0;
  const fetch = async () => {
    fetched += 1;
    return { number: fetched };
  };
  return { cache, clock, fetch, fetched: () => fetched };
}

t.test('fetches once and keeps the value for as long as is asked', async (t) => {
  const { cache, clock, fetch } = open(t);
  t.same(await cache.through('key', 60, fetch), { value: { number: 1 }, cached: false, fetchedAt: 1_000 });
  clock.now = 1_059;
  t.same(await cache.through('key', 60, fetch), { value: { number: 1 }, cached: true, fetchedAt: 1_000 });
  clock.now = 1_061;
  t.same(await cache.through('key', 60, fetch), { value: { number: 2 }, cached: false, fetchedAt: 1_061 });
});

t.test('gives nothing away for new that was kept by a clock that was ahead', async (t) => {
  const { cache, clock, fetch } = open(t);
  await cache.through('key', 60, fetch);
  clock.now = 900;
  t.same(await cache.through('key', 60, fetch), { value: { number: 2 }, cached: false, fetchedAt: 900 });
});

t.test('fetches once for all who ask at the same time', async (t) => {
  const { cache, fetch, fetched } = open(t);
  const answers = await Promise.all(Array.from({ length: 20 }, () => cache.through('key', 60, fetch)));
  t.equal(fetched(), 1);
  t.equal(answers.filter(({ cached }) => !cached).length, 1);
  t.equal((await cache.through('other', 60, fetch)).cached, false);
});

t.test('keeps no failure', async (t) => {
  const { cache, fetch } = open(t);
  const failing = () => Promise.reject(new Error('no luck'));
  const both = await Promise.allSettled([cache.through('key', 60, failing), cache.through('key', 60, failing)]);
  t.same(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.same((await cache.through('key', 60, fetch)).value, { number: 1 });
});

t.test('gives every caller a value of its own', async (t) => {
  const { cache, fetch } = open(t);
  const { value } = await cache.through('key', 60, fetch);
  value.number = 99;
  t.same((await cache.through('key', 60, fetch)).value, { number: 1 });
});

t.test('who waits for the fetch of another stops at its own deadline, and the fetch goes on', async (t) => {
  const { cache } = open(t);
  let deliver: (value: string) => void = () => undefined;
  const slow = () => new Promise<string>((resolve) => (deliver = resolve));
  const fetching = cache.through('key', 60, slow);
  const impatient = new AbortController();
  const waiting = cache.through('key', 60, slow, impatient.signal);
  const patient = cache.through('key', 60, slow);
  impatient.abort();
  await t.rejects(waiting, { name: 'UpstreamProblem', failure: 'timeout' });
  await t.rejects(cache.through('key', 60, slow, impatient.signal), { name: 'UpstreamProblem' });
  deliver('late');
  t.match(await fetching, { value: 'late', cached: false });
  t.match(await patient, { value: 'late', cached: true });
});

t.test('who waits for a fetch that ends at its own caller’s deadline gets another, one for all of them', async (t) => {
  const { cache, fetch, fetched } = open(t);
  const first = new AbortController();
  const untilAborted = () => delay(60_000, { number: 0 }, { signal: first.signal });
  const fetching = cache.through('key', 60, untilAborted, first.signal);
  const waiting = [cache.through('key', 60, fetch), cache.through('key', 60, fetch)];
  first.abort();
  await t.rejects(fetching, { name: 'AbortError' });
  t.match(await Promise.all(waiting), [{ value: { number: 1 } }, { value: { number: 1 } }]);
  t.equal(fetched(), 1);
});

t.test('what was fetched while the database was away is given, and fetched again later', async (t) => {
  const { url, interrupt, stop } = await startPostgres();
  t.teardown(stop);
  const store = await openPostgresStore(url);
  t.teardown(() => store.close());
  const cache = openCache({ store, now: store.now });
  const { signal } = new AbortController();
  let resume = async () => {};
  const fetch = (number: number) => cache.through('key', 60_000, async () => number, signal);
  const first = await cache.through(
    'key',
    60_000,
    async () => {
      resume = await interrupt();
      return 1;
    },
    signal,
  );
  t.match(first, { value: 1, cached: false });
  t.match(await fetch(2), { value: 2, cached: false }, 'nobody can say whether it is kept');
  await resume();
  t.match(await fetch(3), { value: 3, cached: false });
  t.match(await fetch(4), { value: 3, cached: true });
  const mistake = cache.through('one\0two', 60_000, async () => 5, signal);
  await t.rejects(mistake, { code: '22021' }, 'which would be made again, and is told');
});
