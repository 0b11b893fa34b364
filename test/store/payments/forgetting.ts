import { FORGOTTEN } from '../../../src/store/stored-answer.ts';
import { claimable, existing, finished, unclaimable, won } from '../arrivals.ts';
import { sampleKey } from '../credits/credit-samples.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

/** What is kept of payments, and for how long. */
export function forgetting(promise: Promised): void {
  promise('keeps no answer that nobody paid for and nobody will', async (t, store) => {
    await unclaimable.unsettled(store, 'refused');
    t.match(await store.find('refused'), { state: 'unsettled', answer: undefined, reason: 'insufficient funds' });

    await unclaimable.unknown(store, 'asked');
    t.match(await store.find('asked'), { answer: sampleAnswer() }, 'while nobody knows it is kept');
    await store.resolve('asked', { state: 'unknown', reason: 'no node' }, 5);
    t.match(await store.find('asked'), { answer: sampleAnswer() });
    await store.resolve('asked', { state: 'refused', reason: 'expired' }, 6);
    t.match(await store.find('asked'), { state: 'unsettled', answer: undefined });
  });

  promise('forgets old answers, and never that they were given and paid for', async (t, store, open) => {
    await finished(store, 'old');
    const before = await existing(store, 'old');
    await store.forget({ values: 0, answers: 3, payments: undefined });
    t.same(await store.find('old'), before, 'not old enough');
    await store.forget({ values: 0, answers: 4, payments: undefined });
    t.same(await (await open()).find('old'), { ...before, answer: FORGOTTEN });
    t.equal((await store.sales({ since: 0, after: undefined, limit: 10 })).length, 1, 'what was earned is known');
    t.match(await store.claim(sampleFacts('old'), claimAt(1_000)), { won: false }, 'it buys nothing again');
    await store.forget({ values: 0, answers: 1_000, payments: undefined });
    t.same(await store.find('old'), { ...before, answer: FORGOTTEN });
  });

  promise('tells since when answers are kept that were paid for late, and of no others', async (t, store) => {
    const HOUR = 3_600_000;
    await finished(store, 'soon');
    await unclaimable.unknown(store, 'unknown');
    t.equal(await store.oldestLate(), undefined);
    for (const [id, made] of [
      ['later', 5],
      ['first', 2],
    ] as const) {
      const claim = await won(store, sampleFacts(id), claimAt(made));
      await store.fulfil(claim, sampleAnswer(), { now: made });
      await store.settle(claim, sampleReceipt(), made + HOUR + 1);
    }
    t.equal(await store.oldestLate(), 2);
    await store.forget({ values: 0, answers: HOUR + 4, payments: undefined });
    t.equal(await store.oldestLate(), 5, 'and not of what is forgotten');
  });

  promise('forgets old payments that moved no money, and no others', async (t, store) => {
    const all = { ...claimable, ...unclaimable };
    for (const [id, arrive] of Object.entries(all)) await arrive(store, id);
    const kept = new Map<string, unknown>();
    for (const id of Object.keys(all)) kept.set(id, await store.find(id));
    await store.forget({ values: 0, answers: 1_000, payments: undefined });
    for (const [id, before] of kept) {
      if (id === 'released' || id === 'unsettled') t.equal(await store.find(id), undefined, id);
      else if (id === 'finished') t.match(await store.find(id), { answer: FORGOTTEN, receipt: sampleReceipt() });
      else t.same(await store.find(id), before, `${id} is owed, unknown or under way`);
    }
  });

  promise('forgets what was paid where that is wanted, and nothing that somebody is still owed', async (t, store) => {
    const later = sampleReceipt().settledAt + 1_000;
    const all = { ...claimable, ...unclaimable };
    for (const [id, arrive] of Object.entries(all)) await arrive(store, id);
    for (const id of ['in part', 'given back', 'bought']) await finished(store, id);
    const give = (paymentId: string) =>
      store.refunds.want({ paymentId, amount: 1n, reason: 'sorry', isAutomatic: false, now: 10 });
    await give('in part');
    await give('given back');
    await store.refunds.sent({ paymentId: 'given back', number: 1 }, '0xback', later);
    await store.credits.purchase(
      { paymentId: 'bought', amount: 5n, key: sampleKey('key'), awaitsConfirmations: true },
      4,
    );
    await store.figures.count(100);
    const ids = async () => new Set((await store.list({ limit: 100 })).map(({ id }) => id));
    const before = await ids();
    await store.forget({ values: 0, answers: later, payments: later });
    t.ok((await ids()).has('given back'), 'its refund is not as old');
    await store.forget({ values: 0, answers: later, payments: later + 1 });
    const after = await ids();
    t.same(
      [...before].filter((id) => !after.has(id)).sort(),
      ['finished', 'given back', 'released', 'unsettled'],
      'what is owed, unknown, under way, to be given back, or has credits that wait, stays',
    );
    t.same(
      (await store.refunds.list({ limit: 10 })).map(({ paymentId }) => paymentId),
      ['in part'],
    );
  });

  promise(
    'forgets more than it takes at once',
    async (t, store) => {
      for (let index = 0; index < 120; index += 1) {
        const claim = await won(store, sampleFacts(`p${index}`), claimAt(1));
        await store.giveUp(claim, 'released', 'upstream_failed', 2);
        await finished(store, `q${index}`);
        await store.keep(`k${index}`, 'value', 1);
      }
      await store.forget({ values: 10, answers: 10, payments: undefined });
      const left = await store.list({ limit: 500 });
      t.equal(left.length, 120);
      t.ok(left.every(({ answer }) => answer?.status === 410));
      t.equal(await store.cached('k119', 0), undefined);
    },
    'long',
  );

  promise('asks about what stays unknown less and less', async (t, store) => {
    await unclaimable.unknown(store, 'lasting');
    const dueAt = async (now: number) =>
      (await store.list({ states: ['unknown'], due: { now, least: 10, most: 100 }, oldest: true, limit: 10 })).length;
    // Made at 1, given up at 3.
    t.same([await dueAt(12), await dueAt(13)], [0, 1], 'the first wait is the least');
    for (const [asked, next] of [
      [13, 25],
      [25, 49],
      [49, 97],
      [97, 193],
      [193, 293],
      [293, 393],
    ] as const) {
      await store.resolve('lasting', { state: 'unknown', reason: 'no node' }, asked);
      t.same([await dueAt(next - 1), await dueAt(next)], [0, 1], `after ${asked}`);
    }
  });
}
