import type { Store } from '../../src/store/store.ts';
import { claimable, unclaimable, won } from './arrivals.ts';
import { sampleKey, samplePurchase } from './credits/credit-samples.ts';
import type { Promised } from './promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

const TAKEN = BigInt(sampleReceipt().amount);

async function delivered(store: Store, id: string): Promise<void> {
  const claim = await won(store, sampleFacts(id), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { now: 2 });
  await store.settle(claim, sampleReceipt(), 3);
}

async function owed(store: Store, id: string): Promise<void> {
  const claim = await won(store, sampleFacts(id, { settleUpfront: true }), claimAt(1));
  await store.settle(claim, sampleReceipt(), 2);
  await store.giveUp(claim, 'owed', 'content_refused', 3);
}

const want = (store: Store, paymentId: string, amount?: bigint, reference?: string) =>
  store.refunds.want({
    paymentId,
    reason: 'a test',
    isAutomatic: false,
    now: 10,
    ...(amount !== undefined && { amount }),
    ...(reference !== undefined && { reference }),
  });

const takeAll = (store: Store, owner: string, now: number) =>
  store.refunds.take({ owner, now, leaseUntil: now + 10, limit: 10 });

/** Never more than was taken, never twice, and no result for what was given back. */
export function refunds(promise: Promised): void {
  promise('gives back no more than was taken, in however many parts and at once', async (t, store) => {
    await delivered(store, 'sold');
    t.match(await want(store, 'sold', 100n), {
      refund: { number: 1, amount: '100', state: 'wanted', payee: 'payer-1' },
    });
    t.same(await want(store, 'sold', TAKEN), { refused: 'too-much', left: TAKEN - 100n });
    t.same(await want(store, 'sold', 0n), { refused: 'nothing', left: TAKEN - 100n });
    const rest = await Promise.all(Array.from({ length: 5 }, () => want(store, 'sold')));
    t.equal(rest.filter((outcome) => 'refund' in outcome).length, 1);
    const all = await store.refunds.of('sold');
    t.equal(
      all.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
      TAKEN,
    );
    t.match(await store.find('sold'), { state: 'settled', answer: sampleAnswer() }, 'who got its result keeps it');
  });

  promise('gives nothing back that is not what it was seen as', async (t, store) => {
    await delivered(store, 'sold');
    await owed(store, 'owed');
    const asked = { reason: 'a test', isAutomatic: false, now: 10 };
    t.same(await store.refunds.want({ ...asked, paymentId: 'sold', seen: 'owed' }), {
      refused: 'changed',
      left: TAKEN,
    });
    const order = { ...asked, paymentId: 'owed', seen: 'owed', reference: 'bill-7' } as const;
    for (const _again of [1, 2]) t.match(await store.refunds.want(order), { refund: { number: 1 } });
  });

  promise('gives back once under one reference, however often it is asked for', async (t, store, open) => {
    const other = await open();
    for (const id of ['sold', 'another']) await delivered(store, id);
    await owed(store, 'owed');
    const asked = await Promise.all([store, other, store].map((each) => want(each, 'sold', 100n, 'bill-7')));
    for (const outcome of asked) t.match(outcome, { refund: { number: 1, amount: '100', reference: 'bill-7' } });
    const [taken] = await takeAll(store, 'instance-1', 20);
    t.ok(taken && (await store.refunds.sent(taken, '0xback', 21)));
    t.match(await want(other, 'sold', 100n, 'bill-7'), { refund: { number: 1, transaction: '0xback' } });
    t.match(await want(other, 'sold', undefined, 'bill-7'), { refund: { number: 1 } });
    t.same(await want(store, 'sold', 101n, 'bill-7'), { refused: 'reference', left: TAKEN - 100n });
    t.match(await want(store, 'sold', 100n, 'bill-8'), { refund: { number: 2 } });
    t.match(await want(store, 'sold', 100n), { refund: { number: 3, reference: undefined } });
    t.match(await want(store, 'sold', 100n), { refund: { number: 4 } }, 'who names nothing asks for more');
    t.match(await want(store, 'another', 7n, 'bill-7'), { refund: { amount: '7' } }, 'each payment has its own');
    for (const each of [store, other]) t.match(await want(each, 'owed', undefined, 'x'), { refund: { number: 1 } });
  });

  promise(
    'gives back by itself only what is owed: who got a result keeps it, and no money besides',
    async (t, store) => {
      await delivered(store, 'sold');
      const asked = { paymentId: 'sold', reason: 'nobody came back for it', now: 10 };
      t.same(await store.refunds.want({ ...asked, isAutomatic: true }), { refused: 'delivered', left: TAKEN });
      t.same(await store.refunds.of('sold'), []);
      t.match(
        await store.refunds.want({ ...asked, isAutomatic: false }),
        { refund: { number: 1 } },
        'its operator can',
      );
    },
  );

  promise('keeps every fact of a refund, whoever wanted it', async (t, store) => {
    await delivered(store, 'sold');
    await owed(store, 'owed');
    await store.refunds.want({
      paymentId: 'sold',
      amount: 5n,
      reason: 'by \0 hand',
      isAutomatic: false,
      reference: 'bill',
      now: 10,
    });
    await store.refunds.want({ paymentId: 'owed', reason: 'by rule', isAutomatic: true, now: 11 });
    const { network, asset, payer: payee } = sampleFacts('sold');
    const wanted = { number: 1, network, asset, payee, state: 'wanted', attempt: 0 };
    const untried = { recoveryQuery: undefined, fault: undefined, transaction: undefined };
    const first = {
      ...{ ...wanted, ...untried, paymentId: 'sold', amount: '5', reason: 'by  hand', isAutomatic: false },
      ...{ reference: 'bill', createdAt: 10, updatedAt: 10 },
    };
    const second = {
      ...{ ...wanted, ...untried, paymentId: 'owed', amount: String(TAKEN), reason: 'by rule', isAutomatic: true },
      ...{ reference: undefined, createdAt: 11, updatedAt: 11 },
    };
    t.same([await store.refunds.of('sold'), await store.refunds.of('owed')], [[first], [second]]);
    t.same(await store.refunds.list({ limit: 10 }), [second, first], 'newest first');
    const [taken] = await store.refunds.take({ owner: 'a', now: 20, leaseUntil: 30, limit: 1 });
    if (!taken) throw new Error('nobody took it');
    t.same(taken, { ...first, attempt: 1 }, 'oldest first');
    await store.refunds.sending(taken, '{"nonce":"1"}', 21);
    await store.refunds.failed(taken, 'no gas', 22);
    const sending = { ...first, attempt: 1, state: 'sending', recoveryQuery: '{"nonce":"1"}', updatedAt: 22 };
    t.same(await store.refunds.of('sold'), [{ ...sending, fault: 'no gas' }]);
    t.same(await store.refunds.list({ states: ['wanted'], limit: 10 }), [second]);
    t.same(await store.refunds.list({ states: ['sending', 'sent'], limit: 10 }), [{ ...sending, fault: 'no gas' }]);
    await store.refunds.sent(taken, '0xback', 23);
    const sent = { ...sending, state: 'sent', transaction: '0xback', updatedAt: 23 };
    t.same(await store.refunds.of('sold'), [sent]);
    t.same(await store.refunds.open(10), [second]);
  });

  promise('gives refunds of each network their turn, and those first that were tried longest ago', async (t, store) => {
    for (const [id, network] of [
      ['a', 'chain-a'],
      ['b', 'chain-a'],
      ['c', 'chain-a'],
      ['other', 'chain-b'],
    ] as const) {
      const claim = await won(store, sampleFacts(id, { network, settleUpfront: true }), claimAt(1));
      await store.settle(claim, sampleReceipt(), 2);
      await store.giveUp(claim, 'owed', 'upstream_failed', 3);
      await want(store, id);
    }
    const take = async (now: number) => {
      const taken = await store.refunds.take({ owner: 'instance-1', now, leaseUntil: now + 10, limit: 2 });
      for (const refund of taken) {
        if (refund.paymentId !== 'b') await store.refunds.failed(refund, 'no gas', now);
      }
      return taken.map(({ paymentId }) => paymentId).sort();
    };
    t.same(await take(100), ['a', 'b', 'other']);
    t.same(await take(105), ['c'], 'nobody works on it');
    t.same(await take(120), ['a', 'b', 'other'], 'whose turn did not come is first, then who was tried before');
  });

  promise('gives back what is owed whole, and then nobody can have its result', async (t, store) => {
    await owed(store, 'owed');
    t.same(await want(store, 'owed', 1n), { refused: 'whole-only', left: TAKEN });
    t.match(await want(store, 'owed'), { refund: { amount: String(TAKEN) } });
    t.match(await store.find('owed'), { state: 'refunded', receipt: sampleReceipt() });
    t.match(await store.claim(sampleFacts('owed'), claimAt(1_000)), { won: false, payment: { state: 'refunded' } });
    t.equal(await store.settle({ id: 'owed', attempt: 1 }, sampleReceipt(), 1_001), true);
    t.match(await store.find('owed'), { state: 'refunded' }, 'nor after a receipt that comes late');
    t.match(await want(store, 'owed'), { refused: 'too-much', left: 0n });
  });

  promise('gives back nothing of what is not known, not paid, or under way', async (t, store) => {
    t.match(await want(store, 'never'), { refused: 'unknown' });
    const claim = await won(store, sampleFacts('open', { settleUpfront: true }), claimAt(5));
    t.match(await want(store, 'open'), { refused: 'in-progress' });
    await store.settle(claim, sampleReceipt(), 6);
    t.match(await want(store, 'open'), { refused: 'in-progress' }, 'its request may still get its result');
    const free = await won(store, sampleFacts('free'), claimAt(1));
    await store.giveUp(free, 'released', 'upstream_failed', 2);
    t.match(await want(store, 'free'), { refused: 'unpaid' });
    await claimable.fulfilled(store, 'fulfilled');
    t.match(await want(store, 'fulfilled'), { refused: 'in-progress', left: 0n });
    await unclaimable.unknown(store, 'unknown');
    t.match(await want(store, 'unknown'), { refused: 'in-progress', left: 0n });
    await unclaimable.unsettled(store, 'unsettled');
    t.match(await want(store, 'unsettled'), { refused: 'unpaid', left: 0n });
  });

  promise('gives back what was paid first and never done, once nobody works on it', async (t, store) => {
    const claim = await won(store, sampleFacts('left', { settleUpfront: true }), claimAt(5));
    await store.settle(claim, sampleReceipt(), 6);
    const wantAt = (now: number, amount?: bigint) =>
      store.refunds.want({
        paymentId: 'left',
        reason: 'a test',
        isAutomatic: true,
        now,
        ...(amount !== undefined && { amount }),
      });
    t.same(await wantAt(14), { refused: 'in-progress', left: TAKEN });
    t.same(await wantAt(15, 1n), { refused: 'whole-only', left: TAKEN });
    t.match(await wantAt(15), { refund: { amount: String(TAKEN) } }, 'from the moment its lease has run out');
    t.match(await store.find('left'), { state: 'refunded', owner: '', leaseUntil: 0 });
  });

  promise('gives back nothing of what bought credits, which its payer would keep', async (t, store) => {
    await delivered(store, 'bought');
    await store.credits.purchase(samplePurchase('bought', sampleKey('key')), 4);
    t.same(await want(store, 'bought', 1n), { refused: 'credits', left: TAKEN });
    t.same(await store.refunds.of('bought'), []);
  });

  promise('is worked on by one instance at a time, and sent once', async (t, store, open) => {
    await owed(store, 'one');
    await want(store, 'one');
    const other = await open();
    const takers = await Promise.all([takeAll(store, 'a', 20), takeAll(other, 'b', 20)]);
    const [refund, ...others] = takers.flat();
    if (!refund) throw new Error('nobody took it');
    t.same(others, []);
    t.equal(await store.refunds.sending(refund, '{"nonce":"1"}', 21), true);
    t.same(await takeAll(store, 'a', 25), [], 'as long as its lease lasts');
    const [again] = await takeAll(other, 'b', 31);
    t.match(
      again,
      { attempt: 2, state: 'sending', recoveryQuery: '{"nonce":"1"}' },
      'who goes on knows what may be sent',
    );
    t.equal(await store.refunds.sending(refund, '{"nonce":"2"}', 32), false, 'who slept may send nothing');
    t.equal(await store.refunds.failed(refund, 'late', 32), false);
    t.equal(await store.refunds.sent(refund, '0xback', 33), true, 'but money that moved is written down');
    t.equal(await other.refunds.sent(refund, '0xother', 34), false);
    t.same(await takeAll(store, 'a', 1_000), []);
    t.match(await store.refunds.of('one'), [{ state: 'sent', transaction: '0xback' }]);
    t.match(await store.find('one'), { state: 'refunded', reason: '0xback' });
  });

  promise("takes an operator's word for what is sent by hand, but not while an instance sends it", async (t, store) => {
    await owed(store, 'one');
    await want(store, 'one');
    const [refund] = await takeAll(store, 'a', 20);
    if (!refund) throw new Error('nobody took it');
    t.equal(await store.refunds.sending(refund, '{"nonce":"1"}', 21), true);
    t.equal(await store.refunds.sentByHand(refund, '0xmine', 22), false, 'it may be on its way');
    t.match(await store.refunds.of('one'), [{ state: 'sending', transaction: undefined }]);
    await store.refunds.failed(refund, 'too little gas', 23);
    const [again] = await takeAll(store, 'b', 31);
    t.equal(await store.refunds.sentByHand(refund, '0xmine', 32), true);
    t.equal(await store.refunds.sending(again ?? refund, '{"nonce":"2"}', 33), false, 'nobody sends it any more');
    t.same(await takeAll(store, 'a', 1_000), []);
    t.match(await store.refunds.of('one'), [{ state: 'sent', transaction: '0xmine', fault: undefined }]);
    t.match(await store.find('one'), { state: 'refunded', reason: '0xmine' }, 'and its payer is told');
    t.equal(await store.refunds.sentByHand(refund, '0xother', 40), false);
    t.match(await store.refunds.sentIn({ from: 0, to: 100, after: undefined, limit: 5 }), [{ paymentId: 'one' }]);
  });

  promise('tells what was sent in a period, page by page', async (t, store) => {
    for (const [at, id] of ['one', 'two', 'three', 'four'].entries()) {
      await delivered(store, id);
      await want(store, id);
      await store.refunds.sent({ paymentId: id, number: 1 }, `0x${id}`, 100 + at);
    }
    const period = { from: 101, to: 104 };
    const first = await store.refunds.sentIn({ ...period, after: undefined, limit: 2 });
    t.same(
      first.map(({ paymentId }) => paymentId),
      ['two', 'three'],
    );
    const second = await store.refunds.sentIn({ ...period, after: first[1], limit: 2 });
    t.same(
      second.map(({ paymentId }) => paymentId),
      ['four'],
    );
  });

  promise('may send nothing once its own lease has run out', async (t, store) => {
    await owed(store, 'slow');
    await want(store, 'slow');
    const [refund] = await takeAll(store, 'a', 20);
    if (!refund) throw new Error('nobody took it');
    t.equal(await store.refunds.sending(refund, '{}', 31), false);
    t.equal(await store.refunds.failed(refund, 'no gas', 31), true);
    t.match(await store.refunds.list({ states: ['wanted'], limit: 5 }), [{ fault: 'no gas' }]);
  });
}
