import type { Store } from '../../src/store/store.ts';
import { won } from './arrivals.ts';
import type { Promised } from './promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

const told = (occurrence: string, receivers = ['https://a.example']) => ({
  occurrence,
  type: occurrence.split(':')[0] ?? '',
  body: '{}',
  receivers,
});

const takeFor = (store: Store, receiver: string, now: number, limit = 10) =>
  store.alerts.take({ receiver, now, leaseUntil: now + 30, limit });

const takeAll = async (store: Store, now: number) => {
  const receivers = await store.alerts.receivers(now);
  return (await Promise.all(receivers.map((receiver) => takeFor(store, receiver, now)))).flat();
};

const condition = (subject: string, now: number, type = 'upstream.down') => ({
  subject,
  now,
  alert: { ...told(`${type}:x`), type },
});

const occurrences = async (store: Store) => (await store.alerts.list({ limit: 20 })).map((each) => each.occurrence);

/** Once for each occurrence and receiver, until it was sent or given up. */
export function alerts(promise: Promised): void {
  promise('writes an occurrence once for each receiver, whoever finds it out', async (t, store, open) => {
    const other = await open();
    const both = ['https://a.example', 'https://b.example'];
    await Promise.all([store, other, store].map((each) => each.alerts.add(told('spend.daily:1', both), 5)));
    const all = await store.alerts.list({ limit: 10 });
    t.same(
      all.map(({ receiver }) => receiver),
      both,
    );
    t.match(all[0], { type: 'spend.daily', body: '{}', state: 'waiting', attempt: 0, fault: undefined, createdAt: 5 });
    for (const alert of await takeAll(store, 6)) await store.alerts.sent(alert);
    await other.alerts.add(told('spend.daily:1', both), 7);
    t.same(await takeAll(store, 100), [], 'what was sent is not sent again');
  });

  promise('lets one instance at a time send an alert, and another where that one is gone', async (t, store, open) => {
    const other = await open();
    await store.alerts.add(told('x:1'), 5);
    t.same(await takeAll(store, 4), [], 'before its time nobody');
    const [mine, ...more] = (await Promise.all([takeAll(store, 5), takeAll(other, 5)])).flat();
    t.same(more, []);
    if (!mine) throw new Error('nobody took it');
    t.same(await takeAll(other, 34), []);
    const [again] = await takeAll(other, 35);
    t.match(again, { occurrence: 'x:1', attempt: 2 });
    t.equal(await store.alerts.failed(mine, 'late', undefined), false, 'who was too slow gives nothing up');
    await store.alerts.sent(mine);
    t.match(await store.alerts.list({ limit: 1 }), [{ state: 'sent' }], 'but what was sent was sent');
  });

  promise('gives each receiver its turn, and tells of sales after everything else', async (t, store) => {
    const [a, b] = ['https://a.example', 'https://b.example'];
    for (let sale = 0; sale < 15; sale += 1) await store.alerts.add(told(`payment.settled:${sale}`, [a]), sale);
    await store.alerts.add(told('facilitator.down:x', [a, b]), 20);
    t.same(await store.alerts.receivers(19), [a]);
    t.same(await store.alerts.receivers(20), [a, b]);
    const taken = async (receiver: string, limit?: number) =>
      (await takeFor(store, receiver, 20, limit)).map(({ occurrence }) => occurrence).sort();
    t.same(await taken(b), ['facilitator.down:x']);
    t.same(await taken(a, 2), ['facilitator.down:x', 'payment.settled:0']);
    t.equal((await taken(a, 20)).length, 14);
    t.same(await store.alerts.receivers(49), []);
  });

  promise('sends again when it is time, and keeps what was given up in sight', async (t, store) => {
    await store.alerts.add(told('x:1'), 5);
    const [first] = await takeAll(store, 5);
    if (!first) throw new Error('nobody took it');
    t.equal(await store.alerts.failed(first, 'answered 500', 100), true);
    t.same(await takeAll(store, 99), []);
    const [second] = await takeAll(store, 100);
    if (!second) throw new Error('nobody took it');
    t.equal(second.fault, 'answered 500');
    t.equal(await store.alerts.failed(second, 'answered 404', undefined), true);
    t.same(await takeAll(store, 100_000), []);
    t.match(await store.alerts.list({ states: ['given-up'], limit: 5 }), [{ fault: 'answered 404', attempt: 2 }]);
    t.same(await store.alerts.list({ states: ['waiting', 'sent'], limit: 5 }), []);
    await store.alerts.add(told('y:1'), 5);
    await store.forget({ values: 0, answers: 0, payments: undefined, alerts: 6 });
    t.same(await occurrences(store), ['y:1'], 'what waits is not forgotten');
  });

  promise('forgets that it told of an owed result once that is owed no more', async (t, store) => {
    const claim = await won(store, sampleFacts('p'), claimAt(1));
    await store.settle(claim, sampleReceipt(), 2);
    await store.giveUp(claim, 'owed', 'no such city', 3);
    for (const occurrence of ['result.owed:p', 'result.owed:gone', 'x:p']) await store.alerts.add(told(occurrence), 4);
    for (const alert of await takeAll(store, 5)) await store.alerts.sent(alert);
    const forget = () => store.forget({ values: 0, answers: 0, payments: undefined, alerts: 6 });
    await forget();
    t.same(await occurrences(store), ['result.owed:p'], 'its payer may try it again, which tells of nothing new');
    const again = await won(store, sampleFacts('p'), claimAt(7));
    await store.fulfil(again, sampleAnswer(), { now: 8 });
    await forget();
    t.same(await occurrences(store), []);
  });

  promise('tells of a condition once when it begins, and once when nobody sees it any more', async (t, store, open) => {
    const other = await open();
    const raise = (by: Store, now: number) => by.alerts.raise(condition('upstream.down:x', now), now + 10);
    const clear = (by: Store, now: number) => by.alerts.clear(condition('upstream.down:x', now, 'upstream.up'));
    t.equal(await clear(store, 1), false, 'nothing began');
    t.same((await Promise.all([raise(store, 5), raise(other, 5)])).sort(), [false, true]);
    t.equal(await raise(other, 9), false);
    t.equal(await clear(store, 16), false, 'another instance has seen it meanwhile');
    t.same(await store.alerts.raised(), ['upstream.down:x']);
    await other.alerts.hold(['upstream.down:x', 'upstream.down:y'], 24);
    t.equal(await clear(store, 24), false, 'nor has it looked away');
    t.same((await Promise.all([clear(store, 25), clear(other, 25)])).sort(), [false, true]);
    t.same(await store.alerts.raised(), []);
    t.equal(await raise(store, 30), true);
    t.same((await occurrences(store)).sort(), ['upstream.down:x:30', 'upstream.down:x:5', 'upstream.up:x:5']);
  });

  promise('lists what was touched since', async (t, store) => {
    for (const [id, now] of Object.entries({ early: 3, late: 30 })) {
      const claim = await won(store, sampleFacts(id, { settleUpfront: true }), claimAt(1));
      await store.settle(claim, sampleReceipt(), 2);
      await store.giveUp(claim, 'owed', 'upstream_failed', now);
    }
    const found = await store.list({ states: ['owed'], updatedSince: 30, oldest: true, limit: 5 });
    t.same(
      found.map(({ id }) => id),
      ['late'],
    );
  });
}
