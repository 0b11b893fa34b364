import { listMovements } from '../../../src/store/credits/credit-statements.ts';
import { listPaid } from '../../../src/store/payments/payment-statements.ts';
import type { PaidPosition, Store } from '../../../src/store/store.ts';
import { existing, won } from '../arrivals.ts';
import { addFunded, sampleHash, sampleHold, sampleKey, samplePurchase } from '../credits/credit-samples.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';
import { written } from './payers.ts';

async function settled(store: Store, id: string, settledAt: number): Promise<void> {
  const claim = await won(store, sampleFacts(id), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { cost: '0.5', now: 2 });
  await store.settle(claim, { ...sampleReceipt(`tx ${id}`), settledAt }, 3);
}

const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** What the books are written from. */
export function books(promise: Promised): void {
  promise('tells what moved money in the order in which it settled, page by page, by the period', async (t, store) => {
    for (const [id, at] of [
      ['late', 50],
      ['b', 20],
      ['a', 20],
      ['first', 10],
    ] as const)
      await settled(store, id, at);
    await won(store, sampleFacts('open'), claimAt(1));
    const read = async (limit: number, period = ALL) => {
      const ids: string[] = [];
      for (let after: PaidPosition | undefined, more = true; more; ) {
        const { payments, next } = await store.paid({ ...period, after, limit });
        ids.push(...payments.map(({ id }) => id));
        after = next;
        more = next !== undefined;
      }
      return ids;
    };
    for (const limit of [1, 2, 4, 10]) t.same(await read(limit), ['first', 'a', 'b', 'late']);
    t.equal(
      (await store.paid({ ...ALL, after: undefined, limit: 5 })).next,
      undefined,
      'a page that is not full is the last',
    );
    t.same((await store.paid({ ...ALL, after: undefined, limit: 4 })).next, { settledAt: 50, id: 'late' });
    t.same(await read(1, { from: 20, to: 50 }), ['a', 'b'], 'the beginning is part of it and the end is not');
    const { payments } = await store.paid({ from: 10, to: 11, after: undefined, limit: 1 });
    const { rail, network, asset, payer, payTo, route } = sampleFacts('first');
    const receipt = { ...sampleReceipt('tx first'), settledAt: 10 };
    const fixed = { id: 'first', rail, network, asset, payer, payTo, route };
    t.same(payments, [{ ...fixed, state: 'settled', cost: '0.5', receipt, isAnswered: true, keyId: undefined }]);
  });

  promise('has in the books what is owed, what the chain told later, and not what it took back', async (t, store) => {
    const owed = await won(store, sampleFacts('owed'), claimAt(1));
    await store.settle(owed, { ...sampleReceipt(), settledAt: 5 }, 5);
    await store.settle(owed, { ...sampleReceipt(), settledAt: 9 }, 9);
    await store.giveUp(owed, 'owed', 'upstream_failed', 6);
    const asked = await won(store, sampleFacts('asked'), claimAt(1));
    await store.giveUp(asked, 'unknown', 'no answer', 2);
    const states = async () =>
      (await store.paid({ ...ALL, after: undefined, limit: 9 })).payments.map(({ id, state, receipt }) =>
        [id, state, receipt.settledAt].join(' '),
      );
    t.same(await states(), ['owed owed 5'], 'the first receipt stays');
    t.match((await store.paid({ ...ALL, after: undefined, limit: 1 })).payments, [{ isAnswered: false }]);
    await store.resolve('asked', { state: 'settled', receipt: { ...sampleReceipt(), settledAt: 7 } }, 8);
    t.same(await states(), ['owed owed 5', 'asked owed 7']);

    await settled(store, 'credits', 8);
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    const purchase = { ...samplePurchase('credits', { hash: sampleHash('key') }), awaitsConfirmations: true };
    await store.credits.purchase(purchase, 9);
    t.match((await store.paid({ from: 8, to: 9, after: undefined, limit: 1 })).payments, [{ keyId: 'key' }]);
    await store.reopen('credits', 'gone', 10);
    t.match(await existing(store, 'credits'), { state: 'unknown' });
    t.same(await states(), ['owed owed 5', 'asked owed 7']);
  });

  promise('tells what credits were charged and given over all keys, page by page, by the period', async (t, store) => {
    await addFunded(store, 10_000n);
    await store.credits.addKey(sampleKey('another'), { amount: 5n, reference: 'more', note: 'given' }, 40);
    for (const [id, at] of [
      ['b', 30],
      ['a', 30],
      ['c', 20],
    ] as const) {
      await store.credits.hold(sampleHold(id, 100n, { now: 10 }));
      await store.credits.settle(id, { price: 60n, note: 'used' }, at);
    }
    await store.credits.hold(sampleHold('failed', 100n, { now: 10 }));
    await store.credits.release('failed', 'failed', 20);
    const read = (from: number, to: number, limit: number) =>
      store.credits.movements({ from, to, after: undefined, limit });
    const all = await read(0, 100, 10);
    t.same(
      all.map(({ reference }) => reference),
      ['start', 'c', 'b', 'a', 'more'],
    );
    t.match(all[1], { kind: 'settle', price: 60n, keyId: 'key', createdAt: 20 });
    t.same(await read(20, 40, 10), all.slice(1, 4));
    t.same(await read(0, 100, 2), all.slice(0, 2));
    t.same(await store.credits.movements({ from: 0, to: 100, after: all[2], limit: 10 }), all.slice(3));
  });
}

/** Pages as they are asked for, with the values written into the SQL. */
export const pageOfPaid = written(
  listPaid({ from: 1, to: 19_000, after: { settledAt: 9_000, id: 'payment-9' }, limit: 1_000 }),
);
export const pageOfMovements = written(
  listMovements({ from: 1, to: 19_000, after: { createdAt: 9_000, keyId: 'key', number: 9 }, limit: 1_000 }),
);
