import type { Claim } from '../../../src/store/store.ts';
import { existing, finished, unclaimable, won } from '../arrivals.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';
import { historyProperty } from './history.ts';

/** How a payment goes from state to state, and which way it never goes. */
export function states(promise: Promised): void {
  promise('goes from claimed to fulfilled to settled, and then belongs to nobody', async (t, store) => {
    const claim = await won(store, sampleFacts('after'), claimAt(1));
    t.equal(await store.fulfil(claim, sampleAnswer(), { cost: '1500', now: 2 }), true);
    t.match(await store.find('after'), {
      state: 'fulfilled',
      answer: sampleAnswer(),
      cost: '1500',
      owner: 'instance-1',
      updatedAt: 2,
    });
    t.equal(await store.settle(claim, sampleReceipt(), 3), true);
    t.match(await store.find('after'), {
      state: 'settled',
      answer: sampleAnswer(),
      receipt: sampleReceipt(),
      owner: '',
      createdAt: 1,
      updatedAt: 3,
    });
  });

  promise('goes from claimed to settled to answered where settling comes first', async (t, store) => {
    const claim = await won(store, sampleFacts('before', { settleUpfront: true }), claimAt(1));
    t.equal(await store.settle(claim, sampleReceipt(), 2), true);
    t.match(await store.find('before'), { state: 'settled', answer: undefined, owner: 'instance-1', leaseUntil: 11 });
    t.equal(await store.fulfil(claim, sampleAnswer(), { now: 3 }), true);
    t.equal(await store.fulfil(claim, sampleAnswer(), { now: 3 }), true, 'whose answer was lost, and who asks again');
    t.match(await store.find('before'), {
      state: 'settled',
      answer: sampleAnswer(),
      receipt: sampleReceipt(),
      owner: '',
    });
  });

  promise('refuses every write of an attempt that was overtaken', async (t, store) => {
    const old = await won(store, sampleFacts('raced'), claimAt(1));
    const current = await won(store, sampleFacts('raced'), claimAt(50));
    const before = await store.find('raced');
    t.equal(await store.fulfil(old, sampleAnswer('late'), { now: 51 }), false);
    for (const state of ['released', 'unsettled', 'unknown', 'owed'] as const) {
      t.equal(await store.giveUp(old, state, 'late', 51), false);
    }
    t.same(await store.find('raced'), before);
    t.equal(await store.fulfil(current, sampleAnswer(), { now: 52 }), true);
  });

  promise('keeps the receipt of whoever settled, though the claim was lost meanwhile', async (t, store) => {
    const overtaken = async (id: string) => {
      const old = await won(store, sampleFacts(id), claimAt(1));
      return { old, current: await won(store, sampleFacts(id), claimAt(50)) };
    };
    const working = await overtaken('working');
    t.equal(await store.settle(working.old, sampleReceipt('moved'), 51), false);
    t.match(await store.find('working'), { state: 'settled', receipt: sampleReceipt('moved'), owner: 'instance-1' });
    t.equal(await store.giveUp(working.current, 'released', 'upstream_failed', 52), false, 'it is paid');
    t.equal(await store.giveUp(working.current, 'owed', 'upstream_failed', 52), true);

    const answered = await overtaken('answered');
    await store.fulfil(answered.current, sampleAnswer(), { now: 51 });
    t.equal(await store.settle(answered.old, sampleReceipt('moved'), 52), false);
    t.match(await store.find('answered'), { state: 'settled', answer: sampleAnswer(), owner: '', leaseUntil: 0 });

    for (const [id, end] of [
      ['released', 'released'],
      ['refused', 'unsettled'],
      ['unasked', 'unknown'],
    ] as const) {
      const { old, current } = await overtaken(id);
      await store.giveUp(current, end, 'a reason', 51);
      t.equal(await store.settle(old, sampleReceipt('moved'), 52), false);
      t.match(await store.find(id), { state: 'owed', receipt: sampleReceipt('moved'), reason: 'a reason' }, id);
    }
  });

  promise('counts nothing as lost that was settled after all', async (t, store) => {
    await unclaimable.unsettled(store, 'late');
    t.equal((await store.losses(0)).length, 1);
    t.equal(await store.settle({ id: 'late', attempt: 1 }, sampleReceipt(), 5), true);
    t.same(await store.losses(0), []);
  });

  promise('says that a claim is lost where the payment does not exist', async (t, store) => {
    const nobody: Claim = { id: 'nobody', attempt: 1 };
    t.equal(await store.fulfil(nobody, sampleAnswer(), { now: 1 }), false);
    t.equal(await store.settle(nobody, sampleReceipt(), 1), false);
    t.equal(await store.giveUp(nobody, 'released', 'none', 1), false);
    t.equal(await store.resolve('nobody', { state: 'refused', reason: 'none' }, 1), false);
  });

  promise('never lets go of money: what is settled can only be owed, and only what is settled', async (t, store) => {
    const paid = await won(store, sampleFacts('paid'), claimAt(1));
    t.equal(await store.giveUp(paid, 'owed', 'not paid yet', 1), false);
    await store.settle(paid, sampleReceipt('first'), 2);
    for (const state of ['released', 'unsettled', 'unknown'] as const) {
      t.equal(await store.giveUp(paid, state, 'wrong', 3), false);
    }
    t.equal(await store.settle(paid, sampleReceipt('second'), 4), true);
    t.match(await store.find('paid'), { state: 'settled', receipt: sampleReceipt('first') });
    t.equal(await store.giveUp(paid, 'owed', 'upstream_failed', 5), true);
    t.match(await store.find('paid'), {
      state: 'owed',
      reason: 'upstream_failed',
      owner: '',
      receipt: sampleReceipt('first'),
    });
  });

  promise('never changes an answer that somebody paid for', async (t, store) => {
    const claim = await finished(store, 'done');
    const before = await store.find('done');
    t.equal(await store.fulfil(claim, sampleAnswer('other'), { now: 9 }), false);
    t.equal(await store.giveUp(claim, 'owed', 'none', 9), false);
    t.same(await store.find('done'), before);
  });

  promise('settles a payment that was given up too early', async (t, store) => {
    const claim = await won(store, sampleFacts('early'), claimAt(1));
    await store.giveUp(claim, 'released', 'upstream_timeout', 2);
    t.equal(await store.settle(claim, sampleReceipt(), 3), true);
    t.match(await store.find('early'), { state: 'owed', receipt: sampleReceipt(), reason: 'upstream_timeout' });
  });

  promise('keeps a reason whatever characters it quotes', async (t, store) => {
    const claim = await won(store, sampleFacts('quoted'), claimAt(1));
    t.equal(await store.giveUp(claim, 'released', 'it\'s \0 "ü"', 2), true);
    t.match(await store.find('quoted'), { reason: `it's  "ü"` });
  });

  promise('takes what the chain said of an unknown payment, once', async (t, store) => {
    await unclaimable.unknown(store, 'answered');
    t.equal(await store.resolve('answered', { state: 'settled', receipt: sampleReceipt() }, 5), true);
    t.match(await store.find('answered'), {
      state: 'settled',
      receipt: sampleReceipt(),
      answer: sampleAnswer(),
      reason: undefined,
    });
    t.equal(await store.resolve('answered', { state: 'refused', reason: 'expired' }, 6), false);
    t.match(await store.find('answered'), { state: 'settled', updatedAt: 5 });

    await unclaimable.unknown(store, 'expired');
    t.equal(await store.resolve('expired', { state: 'refused', reason: 'expired' }, 5), true);
    t.match(await store.find('expired'), { state: 'unsettled', reason: 'expired', receipt: undefined });
    t.equal(await store.resolve('expired', { state: 'settled', receipt: sampleReceipt() }, 6), false);
  });

  promise('lets the longest forgotten be asked about next, however many stay unknown', async (t, store) => {
    for (const id of ['first', 'second', 'third']) await unclaimable.unknown(store, id);
    const next = async () => (await store.list({ states: ['unknown'], oldest: true, limit: 2 })).map(({ id }) => id);
    t.same(await next(), ['first', 'second']);
    t.equal(await store.resolve('first', { state: 'unknown', reason: 'no node' }, 10), true);
    t.match(await store.find('first'), { state: 'unknown', reason: 'no node', answer: sampleAnswer(), updatedAt: 10 });
    t.same(await next(), ['second', 'third']);
    await store.resolve('second', { state: 'unknown', reason: 'no node' }, 11);
    t.same(await next(), ['third', 'first']);
    await finished(store, 'done');
    t.equal(await store.resolve('done', { state: 'unknown', reason: 'too late' }, 12), false);
    t.match(await store.find('done'), { state: 'settled', reason: undefined });
  });

  promise('keeps what is unknown for who ends it, and none of its attempts, until it is resolved', async (t, store) => {
    await unclaimable.unknown(store, 'ended');
    const before = await existing(store, 'ended');
    const by = (now: number, owner = 'instance-2') => ({ owner, now, leaseUntil: now + 10 });
    const again = (now: number) => store.claim(sampleFacts('ended'), claimAt(now, { settleAgain: true }));
    t.equal(await store.takeUnknown({ id: 'ended', attempt: 2 }, by(20)), false, 'not as it stands');
    t.equal(await store.takeUnknown(before, by(20)), true);
    t.same(await store.find('ended'), { ...before, owner: 'instance-2', leaseUntil: 30 });
    t.equal(await store.takeUnknown(before, by(29, 'instance-3')), false, 'it is taken');
    t.match(await again(29), { won: false });

    await store.resolve('ended', { state: 'unknown', reason: 'another asked' }, 29);
    t.match(await store.find('ended'), { owner: 'instance-2', leaseUntil: 30 }, 'nobody lets go for another');
    await store.resolve('ended', { state: 'unknown', reason: 'not ended' }, 29, 30);
    t.same(await store.find('ended'), { ...before, reason: 'not ended', updatedAt: 29 });

    t.equal(await store.takeUnknown(before, by(31)), true);
    t.equal(await store.takeUnknown(before, by(41, 'instance-3')), true, 'after the lease it is anybody’s');
    await store.resolve('ended', { state: 'refused', reason: 'given back' }, 42);
    t.match(await store.find('ended'), { state: 'unsettled', owner: '', leaseUntil: 0 });
    t.equal(await store.takeUnknown(before, by(60)), false, 'it has ended');

    await unclaimable.unknown(store, 'nobody’s');
    const free = { state: 'released', reason: 'the gateway stopped' } as const;
    await store.takeUnknown({ id: 'nobody’s', attempt: 1 }, by(20));
    t.equal(await store.resolve('nobody’s', free, 21, 29), false, 'who took it before frees nothing');
    t.equal(await store.resolve('nobody’s', free, 21), false);
    t.match(await store.find('nobody’s'), { state: 'unknown', owner: 'instance-2', leaseUntil: 30 });
    t.equal(await store.resolve('nobody’s', free, 21, 30), true);
    t.match(await store.find('nobody’s'), { ...free, attempt: 1, owner: '', leaseUntil: 0, updatedAt: 21 });
    t.equal(await store.resolve('nobody’s', free, 22, 0), false, 'it has ended');
    t.match(await store.claim(sampleFacts('nobody’s'), claimAt(22)), { won: true });

    for (const id of ['settled', 'claimed again']) await unclaimable.unknown(store, id);
    await store.takeUnknown({ id: 'settled', attempt: 1 }, by(20));
    await store.resolve('settled', { state: 'settled', receipt: sampleReceipt() }, 21, 30);
    t.match(await store.find('settled'), { state: 'settled', owner: '', leaseUntil: 0 });
    await store.takeUnknown({ id: 'claimed again', attempt: 1 }, by(20));
    t.match(await store.claim(sampleFacts('claimed again'), claimAt(30, { settleAgain: true })), { won: true });
    t.equal(await store.takeUnknown({ id: 'claimed again', attempt: 1 }, by(50)), false, 'it is worked on');
  });

  promise('owes a result where the chain says paid and there is none', async (t, store) => {
    const claim = await won(store, sampleFacts('unanswered', { settleUpfront: true }), claimAt(1));
    await store.giveUp(claim, 'unknown', 'no answer in time', 2);
    t.equal(await store.resolve('unanswered', { state: 'settled', receipt: sampleReceipt() }, 3), true);
    t.match(await store.find('unanswered'), { state: 'owed', receipt: sampleReceipt(), reason: 'no answer in time' });
  });

  promise(
    'holds its promises in every order of events',
    async (_t, store, open) => {
      await historyProperty(store, await open());
    },
    'long',
  );
}
