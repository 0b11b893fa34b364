import { won } from './arrivals.ts';
import { ID, sold } from './channels/channels.ts';
import { addFunded, keyOf, sampleHold } from './credits/credit-samples.ts';
import type { Promised } from './promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

const DAY = 86_400_000;
/** So long the lease of an instance that is at work may be. */
const MINUTES = 300_000;
/** When what was shortened at once is free. */
const SOON = 30_000;

/** What is left behind by who died while its clock was ahead. */
export function leases(promise: Promised): void {
  promise('frees soon what a clock has dated that was ahead, and leaves all other leases alone', async (t, store) => {
    for (const id of ['ahead', 'at work', 'given back']) {
      const leaseUntil = id === 'ahead' ? DAY : MINUTES;
      const claim = await won(store, sampleFacts(id), claimAt(1, { leaseUntil }));
      if (id !== 'given back') continue;
      await store.fulfil(claim, sampleAnswer(), { now: 2 });
      await store.settle(claim, sampleReceipt(), 3);
    }
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('call ahead', 400n, { leaseUntil: DAY }));
    await store.credits.hold(sampleHold('call at work', 300n, { leaseUntil: MINUTES }));
    await store.refunds.want({ paymentId: 'given back', reason: 'a test', isAutomatic: false, now: 4 });
    const taking = { owner: 'instance-1', limit: 10 };
    await store.refunds.take({ ...taking, now: 5, leaseUntil: DAY });
    await sold(store, 100);
    for (const purpose of ['claim', 'refund'] as const) await store.channels.take([ID], purpose, DAY, 6);

    await store.shortenLeases(10);
    const free = SOON + 10;
    t.equal((await store.claim(sampleFacts('ahead'), claimAt(free - 1))).won, false);
    t.equal((await store.claim(sampleFacts('ahead'), claimAt(free))).won, true);
    t.equal((await store.claim(sampleFacts('at work'), claimAt(free))).won, false);
    t.equal(await store.credits.releaseExpired(free), 1);
    t.match(await keyOf(store), { held: 300n });
    t.equal((await store.refunds.take({ ...taking, now: free, leaseUntil: MINUTES })).length, 1);
    for (const purpose of ['claim', 'refund'] as const) {
      t.equal((await store.channels.take([ID], purpose, MINUTES, free)).length, 1, purpose);
    }
    await store.shortenLeases(free);
    t.same(await store.channels.take([ID], 'claim', DAY, MINUTES - 1), [], 'what is taken as usual stays taken');
  });
}
