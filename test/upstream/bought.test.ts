/** What was made and could not be stored is made once, and nothing else is kept. */
import t from 'tap';
import { openBought } from '../../src/upstream/bought.ts';
import { MediaNotStored } from '../../src/upstream/media/store.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';

/** `isFull`: nothing is taken any more. */
function openKept() {
  const rows = new Map<string, { value: string; storedAt: number }>();
  const kept = {
    isFull: false,
    rows,
    cached: async (key: string, notBefore: number) => {
      const row = rows.get(key);
      return row && row.storedAt > notBefore ? row : undefined;
    },
    async keep(key: string, value: string, storedAt: number) {
      if (kept.isFull) throw new Error('the disk is full');
      rows.set(key, { value, storedAt });
    },
  };
  return kept;
}

const context = { signal: new AbortController().signal, mayGoOn: () => true };

const unstored = () => new MediaNotStored(new Error('the disk is full'));

/** An attempt that buys a picture, and then ends with the error if there is one. */
function attempts(bought: ReturnType<typeof openBought>) {
  let pictures = 0;
  const attempt = (isRepeated: boolean, error?: Error, paymentId = 'p') =>
    bought.attempt({ paymentId, isRepeated, ...context }, async (once) => {
      const picture = await once(['painter', 'fog'], async () => {
        pictures += 1;
        return { picture: pictures };
      });
      if (error) throw error;
      return picture;
    });
  return { attempt, made: () => pictures };
}

t.test('what could not be stored is there for the next attempt, on another instance too', async (t) => {
  const store = openKept();
  const now = () => 10_000_000;
  const first = attempts(openBought({ store, now }));
  await t.rejects(first.attempt(false, unstored()), MediaNotStored);
  const second = attempts(openBought({ store, now }));
  t.same(await second.attempt(true), { picture: 1 });
  t.equal(second.made(), 0);
  t.same(await attempts(openBought({ store, now })).attempt(true, undefined, 'another'), { picture: 1 }, 'its own');
  const later = attempts(openBought({ store, now: () => now() + 3_600_000 }));
  await later.attempt(true);
  t.equal(later.made(), 1, 'the provider keeps it for an hour');
});

t.test('it stays in the process where the database takes nothing either', async (t) => {
  const store = openKept();
  store.isFull = true;
  const { attempt, made } = attempts(openBought({ store, now: () => 1 }));
  for (const _ of [1, 2]) await t.rejects(attempt(made() > 0, unstored()), MediaNotStored);
  t.same(await attempt(true), { picture: 1 });
  t.equal(made(), 1);
});

t.test('what is long stays in the process, the newest of it', async (t) => {
  const store = openKept();
  const bought = openBought({ store, now: () => 1 });
  const picture = 'p'.repeat(50 * 1024 * 1024);
  let made = 0;
  const attempt = (paymentId: string, isRepeated: boolean, error?: Error) =>
    bought.attempt({ paymentId, isRepeated, ...context }, async (once) => {
      await once('fog', async () => {
        made += 1;
        return picture;
      });
      if (error) throw error;
    });
  for (const payment of ['first', 'second', 'third']) await t.rejects(attempt(payment, false, unstored()));
  t.equal(store.rows.size, 0);
  for (const payment of ['second', 'third']) await attempt(payment, true);
  t.equal(made, 3);
  await attempt('first', true);
  t.equal(made, 4);
});

t.test('nothing is kept of an attempt that succeeds, or fails otherwise', async (t) => {
  const store = openKept();
  const { attempt, made } = attempts(openBought({ store, now: () => 1 }));
  await attempt(false);
  await t.rejects(attempt(true, new UpstreamProblem('malformed', 'painter', 'no picture')));
  t.equal(store.rows.size, 0);
  t.equal(made(), 2);
});

/** An attempt that begins a job, or goes on with one, and then ends with the error. */
async function jobOf(
  store: ReturnType<typeof openKept>,
  error: Error,
  { isGivenUp = false, ...changes }: Partial<typeof context> & { isGivenUp?: boolean } = {},
) {
  const bought = openBought({ store, now: () => 5_000_000 });
  let begun: unknown;
  let isCutOff: boolean | undefined;
  const work = bought.attempt({ paymentId: 'p', isRepeated: true, ...context, ...changes }, (once) =>
    once(['painter', 'fog'], async (job) => {
      begun = job.begun;
      if (!begun) await job.note({ at: '/jobs/7' });
      isCutOff = job.isCutOff();
      if (isGivenUp) await job.note(undefined);
      throw error;
    }),
  );
  await work.catch(() => undefined);
  return { begun, isCutOff };
}

t.test('a job goes on at the next attempt, on any instance, unless its end was seen or it was given up', async (t) => {
  const late = new AbortController();
  late.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  const cut = new AbortController();
  cut.abort();
  const timeout = new UpstreamProblem('timeout', 'painter', 'not done');
  const failure = new UpstreamProblem('failed', 'painter', 'lost');
  const job = { at: '/jobs/7' };
  for (const [what, error, changes, isCutOff, begun] of [
    ['cut off by the end of the gateway', timeout, { signal: cut.signal }, true, job],
    [
      'cut off by a sleep beyond the lease, of which the deadline alone is known',
      timeout,
      { signal: late.signal, mayGoOn: () => false },
      true,
      job,
    ],
    ['cut off, and failed by that', failure, { signal: cut.signal }, true, job],
    ['failed, and another attempt goes on with it', failure, { mayGoOn: () => false }, true, job],
    ['late', timeout, { signal: late.signal }, false, job],
    ['late, and given up', timeout, { signal: late.signal, isGivenUp: true }, false, undefined],
    ['failed', failure, {}, false, undefined],
  ] as const) {
    const store = openKept();
    t.same(await jobOf(store, timeout, { signal: cut.signal }), { begun: undefined, isCutOff: true }, what);
    t.same(await jobOf(store, error, changes), { begun: job, isCutOff }, what);
    t.same((await jobOf(store, failure)).begun, begun, what);
    t.equal((await jobOf(store, failure)).begun, undefined, 'and none that came to nothing');
  }
});

t.test('a job whose result turns out to be no good is begun anew', async (t) => {
  const bought = openBought({ store: openKept(), now: () => 5_000_000 });
  const begun: unknown[] = [];
  const attempt = (error?: Error) =>
    bought.attempt({ paymentId: 'p', isRepeated: true, ...context }, async (once) => {
      await once('fog', async (job) => {
        begun.push(job.begun);
        await job.note('/jobs/7');
        return 'a picture';
      });
      if (error) throw error;
    });
  await t.rejects(attempt(unstored()), MediaNotStored);
  await t.rejects(attempt(new UpstreamProblem('malformed', 'painter', 'no picture')));
  await attempt();
  t.same(begun, [undefined, undefined]);
});

t.test('what turns out to be no good is made anew', async (t) => {
  const { attempt, made } = attempts(openBought({ store: openKept(), now: () => 5_000_000 }));
  await t.rejects(attempt(false, unstored()), MediaNotStored);
  await t.rejects(attempt(true, new UpstreamProblem('malformed', 'painter', 'no picture')));
  t.same(await attempt(true), { picture: 2 });
  t.equal(made(), 2);
});

t.test('what stayed in the process and turns out to be no good is made anew, too', async (t) => {
  const store = openKept();
  store.isFull = true;
  const { attempt, made } = attempts(openBought({ store, now: () => 1 }));
  await t.rejects(attempt(false, unstored()), MediaNotStored);
  await t.rejects(attempt(true, new UpstreamProblem('malformed', 'painter', 'no picture')));
  t.same(await attempt(true), { picture: 2 });
  t.equal(made(), 2);
});

t.test('the job that was noted last is gone on with, whether or not the database took the one before', async (t) => {
  const store = openKept();
  const bought = openBought({ store, now: () => 1 });
  const begun: unknown[] = [];
  const cutOff = (next: string) => {
    const attempt = { paymentId: 'p', isRepeated: true, ...context, mayGoOn: () => false };
    return bought.attempt(attempt, (once) =>
      once('film', async (job) => {
        begun.push(job.begun);
        await job.note(next);
        throw new Error('cut off');
      }),
    );
  };
  store.isFull = true;
  await t.rejects(cutOff('/jobs/1'));
  store.isFull = false;
  await t.rejects(cutOff('/jobs/2'));
  await t.rejects(cutOff('/jobs/3'));
  t.same(begun, [undefined, '/jobs/1', '/jobs/2']);
});

t.test('of several that are made at once, those that come after the failure are kept as well', async (t) => {
  const bought = openBought({ store: openKept(), now: () => 5_000_000 });
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let late: Promise<unknown> = Promise.resolve();
  const first = bought.attempt({ paymentId: 'p', isRepeated: false, ...context }, async (once) => {
    late = once('banner', () => slow.then(() => 'a banner'));
    await once('logo', async () => 'a logo');
    throw unstored();
  });
  await t.rejects(first, MediaNotStored);
  finish();
  await late;
  const again = (once: Parameters<Parameters<typeof bought.attempt>[1]>[0]) =>
    Promise.all(['logo', 'banner'].map((order) => once(order, () => Promise.reject(new Error(`${order} made twice`)))));
  t.same(await bought.attempt({ paymentId: 'p', isRepeated: true, ...context }, again), ['a logo', 'a banner']);
});
