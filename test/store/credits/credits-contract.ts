import type { Test } from 'tap';
import type { NamedCall } from '../../../src/store/credits/credit-store.ts';
import { finished } from '../arrivals.ts';
import { atOnce } from '../at-once.ts';
import { type EmptyDatabase, type Promised, promisedOn } from '../promised.ts';
import { sampleAnswer, sampleReceipt } from '../samples.ts';
import { creditHistoryProperty } from './credit-history.ts';
import {
  addFunded,
  fulfilledPayment,
  keyOf,
  ledgerSum,
  sampleHash,
  sampleHold,
  sampleKey,
  sampleName,
  samplePurchase,
} from './credit-samples.ts';

/** What every engine promises about credits; see `src/store/credits/credit-store.ts`. */
export function creditsContract(t: Test, emptyDatabase: EmptyDatabase): void {
  credits(promisedOn(t, emptyDatabase));
}

/** What a key has, and what becomes of it. */
export function credits(promise: Promised): void {
  promise('keeps every fact of a key, and amounts of any size exactly', async (t, store) => {
    const limits = { perDay: 9_007_199_254_740_993n, perCall: 7n, models: ['model-1', 'model-2'] };
    await addFunded(store, 9_007_199_254_740_993n, { limits, expiresAt: 1_800_000_000_000 });
    t.same(await keyOf(store), {
      ...sampleKey('key', { limits, expiresAt: 1_800_000_000_000 }),
      balance: 9_007_199_254_740_993n,
      held: 0n,
      spent: { day: 0, amount: 0n },
      entries: 1,
      createdAt: 1,
      disabledAt: undefined,
    });
    t.equal(await store.credits.findKey(sampleHash('other'), 1), undefined);
    await t.rejects(addFunded(store, 1n));
    t.equal((await keyOf(store)).balance, 9_007_199_254_740_993n);
  });

  promise('holds the most a call may cost, and settles what it did cost', async (t, store) => {
    await addFunded(store, 1_000n);
    t.same(await store.credits.hold(sampleHold('call', 600n)), { held: true, balance: 400n });
    t.match(await keyOf(store), { balance: 400n, held: 600n });
    t.equal(await store.credits.settle('call', { price: 250n, cost: 200_000_000n, note: 'used' }, 1_100), 250n);
    t.match(await keyOf(store), { balance: 750n, held: 0n });
    const what = { keyId: 'key', reference: 'call', route: 'v1/chat/completions', model: 'model-1' };
    t.same(await store.credits.entries('key', 10), [
      {
        ...what,
        number: 3,
        kind: 'settle',
        amount: 350n,
        balance: 750n,
        price: 250n,
        cost: 200_000_000n,
        note: 'used',
        createdAt: 1_100,
      },
      {
        ...what,
        number: 2,
        kind: 'hold',
        amount: -600n,
        balance: 400n,
        price: undefined,
        cost: undefined,
        note: undefined,
        createdAt: 1_000,
      },
      {
        keyId: 'key',
        number: 1,
        kind: 'grant',
        amount: 1_000n,
        balance: 1_000n,
        reference: 'start',
        route: undefined,
        model: undefined,
        price: undefined,
        cost: undefined,
        note: 'to start with',
        createdAt: 1,
      },
    ]);
    t.equal(await ledgerSum(store), 750n);
  });

  promise('gives back what a call was charged, in parts, once and never more', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('call', 600n));
    const back = (amount?: bigint, call = 'call', reference = 'one') =>
      store.credits.refund({ call, ...(amount !== undefined && { amount }), reason: 'sorry', reference, now: 1_200 });
    t.same(await back(), { refused: 'unknown', left: 0n }, 'it is not charged yet');
    await store.credits.settle('call', { price: 250n, note: 'used' }, 1_100);
    t.same(await back(251n), { refused: 'too-much', left: 250n });
    t.same(await back(0n), { refused: 'nothing', left: 250n });
    const part = {
      kind: 'refund',
      amount: 100n,
      balance: 850n,
      reference: 'call#one',
      model: 'model-1',
      note: 'sorry',
    };
    t.match(await back(100n), { entry: part });
    t.match([await back(100n), await back()], [{ entry: part }, { entry: part }], 'by one reference once');
    t.same(await back(101n), { refused: 'reference', left: 150n });
    t.equal((await keyOf(store)).balance, 850n);
    const rest = { call: 'call', reason: 'again', now: 1_300 };
    const ends = await Promise.all([
      store.credits.refund({ ...rest, reference: 'two' }),
      other.credits.refund({ ...rest, reference: 'three' }),
      store.credits.refund({ ...rest, reference: 'four' }),
    ]);
    t.same(
      ends.flatMap((end) => ('entry' in end ? [end.entry.amount] : [])),
      [150n],
    );
    t.equal((await keyOf(store)).balance, 1_000n);
    t.equal(await ledgerSum(store), 1_000n);
    t.same(await back(1n, 'other'), { refused: 'unknown', left: 0n });
    t.same(
      (await store.credits.movements({ from: 0, to: 2_000, after: undefined, limit: 10 })).map(({ kind }) => kind),
      ['grant', 'settle', 'refund', 'refund'],
    );
  });

  promise('gives nothing back to a key that is disabled or expired', async (t, store) => {
    await addFunded(store, 1_000n, { expiresAt: 1_500 });
    await store.credits.hold(sampleHold('call', 600n));
    await store.credits.settle('call', { price: 250n, note: 'used' }, 1_100);
    const back = (reference: string, now: number) =>
      store.credits.refund({ call: 'call', amount: 100n, reason: 'sorry', reference, now });
    t.match(await back('one', 1_499), { entry: { amount: 100n, balance: 850n } });
    t.same(await back('two', 1_500), { refused: 'dead', left: 150n });
    t.match(await back('one', 1_500), { entry: { amount: 100n } }, 'what was given back stays');
    t.equal((await keyOf(store)).balance, 850n);
  });

  promise('never charges more than was held', async (t, store) => {
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('call', 600n));
    t.equal(await store.credits.settle('call', { price: 5_000n, note: 'used' }, 1_100), 600n);
    t.equal((await keyOf(store)).balance, 400n);
  });

  promise('gives everything back of a call that failed', async (t, store) => {
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('call', 600n));
    t.equal(await store.credits.release('call', 'failed', 1_100), true);
    t.match(await keyOf(store), { balance: 1_000n, held: 0n });
    t.equal(await store.credits.release('call', 'failed', 1_101), false, 'once');
    t.equal(await store.credits.settle('call', { price: 250n, note: 'used' }, 1_102), undefined, 'and charges nothing');
    t.match(await keyOf(store), { balance: 1_000n, held: 0n });
    t.equal((await store.credits.entries('key', 10)).length, 3);
  });

  promise('ends a hold once, whoever ends it first', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('call', 600n));
    const endings = await Promise.all([
      ...[1, 2, 3].map(() => store.credits.settle('call', { price: 100n, note: 'used' }, 1_100)),
      ...[1, 2, 3].map(() => other.credits.release('call', 'failed', 1_100)),
    ]);
    const isReleased = endings.includes(true);
    t.same(
      endings.slice(0, 3),
      Array(3).fill(isReleased ? undefined : 100n),
      'the price is told as often as it is asked',
    );
    t.equal(endings.filter((ending) => ending === true).length, isReleased ? 1 : 0);
    t.equal((await store.credits.entries('key', 10)).length, 3);
    t.equal(await ledgerSum(store), (await keyOf(store)).balance);
  });

  promise(
    'never lets 200 concurrent calls spend more than the balance',
    async (t, store, open) => {
      const other = await open();
      await addFunded(store, 1_000n);
      const outcomes = await atOnce(200, (index) =>
        (index % 2 ? other : store).credits.hold(sampleHold(`call-${index}`, 90n)),
      );
      t.equal(outcomes.filter(({ held }) => held).length, 11);
      t.match(await keyOf(store), { balance: 10n, held: 990n });
      t.equal(await ledgerSum(store), 10n);
    },
    'long',
  );

  promise('never lets a key have more calls under way than it may', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    const hold = (index: number) =>
      (index % 2 ? other : store).credits.hold(sampleHold(`call-${index}`, 1n, { mostHolds: 7 }));
    const outcomes = await atOnce(50, hold);
    t.equal(outcomes.filter(({ held }) => held).length, 7);
    t.match(
      outcomes.find(({ held }) => !held),
      { because: 'holds', balance: 993n },
    );
    await store.credits.release(`call-${outcomes.findIndex(({ held }) => held)}`, 'failed', 1_500);
    t.match(await hold(50), { held: true });
  });

  promise('never lets concurrent calls spend more in a day than the limit', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 100_000n, { limits: { perDay: 1_000n } });
    const hold = (index: number, now: number) =>
      (index % 2 ? other : store).credits.hold(sampleHold(`call-${now}-${index}`, 90n, { now }));
    const today = await atOnce(50, (index) => hold(index, 1_000));
    t.equal(today.filter(({ held }) => held).length, 11);
    t.match(
      today.find(({ held }) => !held),
      { because: 'per-day' },
    );
    const tomorrow = await hold(0, 86_400_000);
    t.equal(tomorrow.held, true);
  });

  promise('counts what was settled towards the day of its hold', async (t, store) => {
    await addFunded(store, 100_000n, { limits: { perDay: 1_000n } });
    await store.credits.hold(sampleHold('late', 900n, { now: 86_399_999 }));
    await store.credits.hold(sampleHold('early', 900n, { now: 86_400_000 }));
    await store.credits.settle('late', { price: 1n, note: 'used' }, 86_400_001);
    t.match(await store.credits.hold(sampleHold('more', 200n, { now: 86_400_002 })), { because: 'per-day' });
    await store.credits.settle('early', { price: 100n, note: 'used' }, 86_400_003);
    t.match(await store.credits.hold(sampleHold('most', 900n, { now: 86_400_004 })), { held: true });
    t.match(await store.credits.hold(sampleHold('over', 1n, { now: 86_400_005 })), { because: 'per-day' });
  });

  promise('says why nothing is held', async (t, store) => {
    await addFunded(store, 100n, { expiresAt: 3_000 });
    t.same(await store.credits.hold(sampleHold('a', 101n)), { held: false, because: 'balance', balance: 100n });
    t.same(await store.credits.hold(sampleHold('b', 1n, { keyId: 'none' })), {
      held: false,
      because: 'unknown',
      balance: 0n,
    });
    t.match(await store.credits.hold(sampleHold('c', 1n, { now: 3_000 })), { because: 'expired' });
    t.equal(await store.credits.disableKey('key', 2_000), true);
    t.equal(await store.credits.disableKey('none', 2_000), false);
    t.match(await store.credits.hold(sampleHold('d', 1n)), { because: 'disabled' });
    await store.credits.disableKey('key', 9_000);
    t.match(await keyOf(store), { disabledAt: 2_000, balance: 100n });
  });

  promise('gives back what a dead instance held once its lease has run out, and once', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('dead', 400n, { owner: 'dead' }));
    await store.credits.hold(sampleHold('alive', 300n, { owner: 'alive' }));
    t.same(await store.credits.renew('alive', ['alive', 'dead'], 9_000), ['alive']);
    t.same(await store.credits.renew('alive', [], 9_000), []);
    t.equal(await store.credits.releaseExpired(1_999), 0);
    const released = await Promise.all([store, other, store].map(({ credits }) => credits.releaseExpired(2_000)));
    t.equal(
      released.reduce((sum, count) => sum + count),
      1,
    );
    t.match(await keyOf(store), { balance: 700n, held: 300n });
    t.equal(await store.credits.release('dead', 'too late', 2_001), false);
    t.equal(await store.credits.settle('alive', { price: 300n, note: 'used' }, 2_001), 300n);
    t.equal(await ledgerSum(store), 700n);
  });

  promise('gives back what is prolonged at the same moment, or leaves it to its owner', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    await store.credits.hold(sampleHold('slow', 400n));
    const [released, prolonged] = await Promise.all([
      store.credits.releaseExpired(2_000),
      other.credits.renew('instance-1', ['slow'], 9_000),
    ]);
    t.same(prolonged, released === 1 ? [] : ['slow']);
    t.match(await keyOf(store), { held: released === 1 ? 0n : 400n });
  });

  promise('charges who only slept once, from what is left', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    for (const id of ['slept', 'slept long']) await store.credits.hold(sampleHold(id, 500n));
    t.equal(await store.credits.releaseExpired(2_000), 2);
    const settle = (id: string, price: bigint) =>
      [store, other, store].map(({ credits }) => credits.settle(id, { price, note: 'used' }, 2_001));
    t.same(await Promise.all(settle('slept', 9_000n)), [500n, 500n, 500n], 'no more than was held');
    await store.credits.hold(sampleHold('another', 400n, { now: 2_002, leaseUntil: 9_000 }));
    t.same(await Promise.all(settle('slept long', 300n)), [100n, 100n, 100n], 'no more than there is');
    t.match(await keyOf(store), { balance: 0n, held: 400n });
    t.equal(await ledgerSum(store), 0n);
    t.equal(await store.credits.settle('nobody', { price: 1n, note: 'used' }, 2_003), undefined);
  });

  promise(
    'charges one of the calls that have one name, and tells the others what it was answered',
    async (t, store, open) => {
      const other = await open();
      await addFunded(store, 1_000n);
      const call = (id: string, changes: Partial<NamedCall> = {}, of = store) =>
        of.credits.hold(sampleHold(id, 600n, { named: sampleName(changes) }));
      t.match(await call('first'), { held: true });
      t.match(await call('second', {}, other), { held: false, because: 'under-way' });
      t.match(await call('second', { digest: 'of another' }), { held: false, because: 'named-otherwise' });
      t.match(await call('second', { name: 'another' }), { held: false, because: 'balance' });
      await store.credits.settle(
        'first',
        { price: 250n, note: 'used', named: { ...sampleName(), answer: sampleAnswer() } },
        1_100,
      );
      const answered = { held: false, because: 'answered', answer: sampleAnswer() };
      t.same(
        await atOnce(20, (index) => call(`more ${index}`, {}, index % 2 ? other : store)),
        Array(20).fill(answered),
      );
      t.match(await call('another', { digest: 'of another' }), { held: false, because: 'named-otherwise' });
      t.match(await keyOf(store), { balance: 750n, held: 0n });
      t.equal((await store.credits.entries('key', 10)).length, 3);
      t.match(await call('a day later', { since: 1_100 }), { held: true }, 'a name from before then is free');
    },
  );

  promise('tells the answer of a call to a key that has nothing left', async (t, store) => {
    await addFunded(store, 600n);
    const hold = (id: string) => store.credits.hold(sampleHold(id, 600n, { named: sampleName() }));
    await hold('first');
    await store.credits.settle(
      'first',
      { price: 600n, note: 'used', named: { ...sampleName(), answer: sampleAnswer() } },
      1_100,
    );
    t.match(await hold('second'), { because: 'answered' });
  });

  promise(
    'lets one of many calls of one name at a time be made, and another after one that cost nothing',
    async (t, store, open) => {
      const other = await open();
      await addFunded(store, 100_000n);
      for (const round of [1, 2, 3]) {
        const hold = (index: number) =>
          (index % 2 ? other : store).credits.hold(sampleHold(`call ${round} ${index}`, 1n, { named: sampleName() }));
        const outcomes = await atOnce(20, hold);
        t.equal(outcomes.filter(({ held }) => held).length, 1);
        t.equal(outcomes.filter((outcome) => !outcome.held && outcome.because === 'under-way').length, 19);
        await store.credits.release(`call ${round} ${outcomes.findIndex(({ held }) => held)}`, 'failed', 1_100);
      }
      t.match(await keyOf(store), { balance: 100_000n, held: 0n });
    },
  );

  promise('keeps no answer that is too long, and charges its call once all the same', async (t, store) => {
    await addFunded(store, 1_000n);
    const hold = (id: string) => store.credits.hold(sampleHold(id, 600n, { named: sampleName() }));
    await hold('first');
    await store.credits.settle(
      'first',
      { price: 250n, note: 'used', named: { ...sampleName(), answer: undefined } },
      1_100,
    );
    t.same(await hold('second'), { held: false, because: 'not-kept', balance: 750n });
  });

  promise('charges one of two calls of one name where the first only slept', async (t, store) => {
    await addFunded(store, 1_000n);
    const named = { ...sampleName(), answer: sampleAnswer('"of the sleeper"') };
    const hold = (id: string) => store.credits.hold(sampleHold(id, 300n, { named: sampleName() }));
    const settle = (id: string, answer = named.answer) =>
      store.credits.settle(id, { price: 100n, note: 'used', named: { ...named, answer } }, 2_100);
    await hold('slept');
    t.equal(await store.credits.releaseExpired(2_000), 1);
    t.match(await hold('again'), { held: true });
    t.equal(await settle('slept'), 0n, 'it has been asked for once more');
    t.equal(await settle('again', sampleAnswer('"of the second"')), 100n);
    t.equal(await settle('slept'), 0n);
    t.match(await hold('third'), { because: 'answered', answer: { body: '"of the second"' } });
    t.match(await keyOf(store), { balance: 900n, held: 0n });
    t.equal(await ledgerSum(store), 900n);
  });

  promise('keeps the answer of who only slept, where nobody has asked once more', async (t, store) => {
    await addFunded(store, 1_000n);
    const hold = (id: string) => store.credits.hold(sampleHold(id, 300n, { named: sampleName() }));
    await hold('slept');
    await store.credits.releaseExpired(2_000);
    const charge = { price: 100n, note: 'used', named: { ...sampleName(), answer: sampleAnswer() } };
    t.equal(await store.credits.settle('slept', charge, 2_100), 100n);
    t.match(await hold('again'), { because: 'answered', answer: sampleAnswer() });
    t.match(await keyOf(store), { balance: 900n, held: 0n });
  });

  promise(
    'leaves what is prolonged while the dead are cleared away to its owner',
    async (t, store, open) => {
      const other = await open();
      await addFunded(store, 1_000n);
      let prolonged = 0n;
      // Again where all were cleared away before any was prolonged.
      for (let round = 0; prolonged === 0n; round += 1) {
        const ids = Array.from({ length: 100 }, (_, index) => `call-${round}-${index}`);
        for (const id of ids) await store.credits.hold(sampleHold(id, 10n));
        const clearing = other.credits.releaseExpired(2_000);
        // From the first one given back on, the others are on the list of what has run out.
        while ((await keyOf(store)).held === 1_000n) await new Promise(setImmediate);
        await store.credits.renew('instance-1', ids, 9_000);
        prolonged = (await keyOf(store)).held;
        t.equal(await clearing, 100 - Number(prolonged / 10n));
        t.equal((await keyOf(store)).held, prolonged, 'none of them is given back after');
        const left: boolean[] = [];
        for (const id of ids) left.push(await store.credits.release(id, 'failed', 2_001));
        t.equal(left.filter((isReleased) => isReleased).length, Number(prolonged / 10n));
        t.equal(await ledgerSum(store), 1_000n);
      }
    },
    'long',
  );

  promise('undoes a transaction that fails, and keeps what comes after it', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 1_000n);
    const failures: Record<string, () => Promise<unknown>> = {
      'a key that is there already': () => addFunded(store, 5n),
      'what the database refuses': () => store.credits.hold(sampleHold('a \0 in its name', 600n)),
    };
    for (const [failure, fail] of Object.entries(failures)) {
      await t.rejects(async () => await fail(), failure);
      t.match(await keyOf(store), { balance: 1_000n, held: 0n }, failure);
      await store.keep(failure, 'kept', 1);
      t.match(await other.cached(failure, 0), { value: 'kept' }, `${failure}: seen by another instance`);
      t.match(await store.credits.hold(sampleHold(failure, 600n)), { held: true });
      t.match(await keyOf(other), { balance: 400n, held: 600n });
      t.equal(await other.credits.release(failure, 'failed', 1_100), true);
    }
    t.equal(await ledgerSum(other), 1_000n);
  });

  promise('lets bought credit be spent once its payment has settled, and not before', async (t, store) => {
    const settle = await fulfilledPayment(store, 'payment');
    t.match(await store.credits.purchase(samplePurchase('payment', sampleKey('key')), 10), {
      key: { id: 'key', balance: 0n },
      isPosted: false,
    });
    t.match(await store.credits.hold(sampleHold('early', 1n)), { because: 'balance' });
    t.match(await store.credits.listKeys(10), [{ balance: 0n }]);
    t.equal(await store.credits.liability(), 0n);
    await settle();
    t.equal(await store.credits.liability(), 500n, 'owed to its owner, whether anybody has asked for it or not');
    t.equal((await keyOf(store)).balance, 500n);
    t.match(await store.credits.entries('key', 1), [{ kind: 'purchase', reference: 'payment', amount: 500n }]);
    t.match(await store.credits.hold(sampleHold('then', 500n)), { held: true });
    t.equal(await store.credits.liability(), 500n, 'a call under way has not used it yet');
  });

  promise('lets a call spend what was bought since its key was looked up', async (t, store) => {
    await addFunded(store, 100n);
    const settle = await fulfilledPayment(store, 'payment');
    await store.credits.purchase(samplePurchase('payment', { hash: sampleHash('key') }), 10);
    t.match(await store.credits.hold(sampleHold('early', 600n)), { because: 'balance', balance: 100n });
    await settle();
    t.match(await store.credits.hold(sampleHold('enough', 100n)), { held: true, balance: 0n });
    t.match(await store.credits.hold(sampleHold('then', 500n)), { held: true, balance: 0n });
    t.match(await store.credits.hold(sampleHold('more', 1n)), { because: 'balance', balance: 0n });
    t.equal(await ledgerSum(store), 0n);
  });

  promise('credits nothing for a payment whose settlement was refused', async (t, store) => {
    const claim = { id: 'payment', attempt: 1 };
    await fulfilledPayment(store, 'payment');
    await store.credits.purchase(samplePurchase('payment', sampleKey('key')), 10);
    await store.giveUp(claim, 'unsettled', 'insufficient funds', 11);
    t.equal((await keyOf(store)).balance, 0n);
  });

  promise('forgets with a payment that was never made the key that it made, and no other', async (t, store) => {
    const forget = () => store.forget({ values: 0, answers: 1_000, payments: undefined });
    const keys = async () => (await store.credits.listKeys(20)).map(({ id }) => id).sort();
    await store.credits.addKey(sampleKey('of the operator'), undefined, 1);
    await fulfilledPayment(store, 'unpaid');
    await fulfilledPayment(store, 'unpaid too');
    await fulfilledPayment(store, 'given');
    await fulfilledPayment(store, 'under way');
    await store.credits.purchase(samplePurchase('unpaid', sampleKey('made')), 10);
    await store.credits.purchase(samplePurchase('unpaid too', { hash: sampleHash('of the operator') }), 10);
    await store.credits.purchase(samplePurchase('given', sampleKey('given something')), 10);
    await store.credits.purchase(samplePurchase('under way', sampleKey('waiting')), 10);
    await store.credits.grant('given something', { amount: 5n, reference: 'gift', note: 'a gift' }, 11);
    for (const id of ['unpaid', 'unpaid too', 'given'])
      await store.giveUp({ id, attempt: 1 }, 'unsettled', 'insufficient funds', 11);
    t.same(await keys(), ['given something', 'made', 'of the operator', 'waiting']);
    await forget();
    t.equal(await store.find('unpaid'), undefined);
    t.same(await keys(), ['given something', 'of the operator', 'waiting']);

    // Who signed what is good for so long may come back with it.
    const settle = await fulfilledPayment(store, 'unpaid');
    await store.credits.purchase(samplePurchase('unpaid', { hash: sampleHash('of the operator') }), 10);
    await settle();
    t.equal((await keyOf(store, 'of the operator')).balance, 500n, 'nothing was left of the first purchase');
  });

  promise('credits a payment once, however often it is asked and looked at', async (t, store, open) => {
    const other = await open();
    const settle = await fulfilledPayment(store, 'payment');
    const stores = [store, other, store, other, store, other];
    const bought = await Promise.all(
      stores.map(({ credits }) => credits.purchase(samplePurchase('payment', sampleKey('key')), 10)),
    );
    for (const one of bought) t.match(one, { key: { id: 'key' }, isPosted: false });
    await settle();
    await Promise.all(stores.flatMap((one) => [keyOf(one), one.credits.listKeys(20)]));
    const again = await store.credits.purchase(samplePurchase('payment', sampleKey('key')), 30);
    t.match(again, { key: { balance: 500n }, isPosted: true });
    t.equal((await keyOf(store)).balance, 500n);
    t.equal((await store.credits.listKeys(40)).length, 1);
    t.equal(await ledgerSum(store), 500n);
  });

  promise('tops up a key that exists, and no other', async (t, store) => {
    await addFunded(store, 100n);
    const settle = await fulfilledPayment(store, 'payment');
    const purchase = samplePurchase('payment', { hash: sampleHash('key') });
    t.match(await store.credits.purchase(purchase, 10), { key: { id: 'key', balance: 100n } });
    await settle();
    t.equal((await store.credits.listKeys(20))[0]?.balance, 600n);
    t.equal(await store.credits.purchase(samplePurchase('next', { hash: sampleHash('none') }), 10), undefined);
    await store.credits.disableKey('key', 20);
    t.equal(await store.credits.purchase(samplePurchase('next', { hash: sampleHash('key') }), 30), undefined);
  });

  promise('grants with one reference once', async (t, store, open) => {
    const other = await open();
    await addFunded(store, 100n);
    await store.credits.addKey(sampleKey('another'), undefined, 1);
    const grant = { amount: 50n, reference: 'gift', note: 'for \0 testing' };
    t.same(await store.credits.grant('key', grant, 2), { balance: 150n });
    t.same(await store.credits.grant('key', grant, 3), { balance: 150n });
    t.same(await store.credits.grant('none', { ...grant, reference: 'other' }, 3), { refused: 'unknown' });
    t.same(await store.credits.grant('key', { ...grant, amount: 51n }, 3), { refused: 'reference' });
    t.same(await store.credits.grant('another', grant, 3), { refused: 'reference' });
    await store.credits.addKey(sampleKey('expires', { expiresAt: 10 }), undefined, 1);
    t.same(await store.credits.grant('expires', { ...grant, reference: 'late' }, 10), { refused: 'dead' });
    await store.credits.disableKey('another', 3);
    t.same(await store.credits.grant('another', { ...grant, reference: 'wasted' }, 4), { refused: 'dead' });
    const again = { ...grant, reference: 'at once' };
    await Promise.all([store, other, store].map(({ credits }) => credits.grant('key', again, 4)));
    t.equal(await ledgerSum(store), 200n);
    t.equal((await keyOf(store)).balance, 200n);
    await store.credits.disableKey('key', 5);
    t.same(
      await store.credits.grant('key', grant, 6),
      { balance: 200n },
      'what was done is told of a disabled key as well',
    );
  });

  promise('takes by a grant no more than there is', async (t, store) => {
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    t.match(await keyOf(store), { balance: 0n });
    t.same(await store.credits.entries('key', 10), []);
    const take = (amount: bigint) =>
      store.credits.grant('key', { amount, reference: `of ${amount}`, note: 'a correction' }, 2);
    t.same(await take(100n), { balance: 100n });
    await t.rejects(take(-101n), { message: /balance of the API key key would be below zero/ });
    t.match(await keyOf(store), { balance: 100n });
    t.same(await take(-100n), { balance: 0n }, 'to the last of it');
    t.equal(await ledgerSum(store), 0n);
  });

  promise('sums what was sold by route and model', async (t, store) => {
    await addFunded(store, 10_000n);
    const sell = async (id: string, model: string, price: bigint, cost: bigint | undefined, now: number) => {
      await store.credits.hold(sampleHold(id, 1_000n, { model }));
      await store.credits.settle(id, { price, note: 'used', ...(cost !== undefined && { cost }) }, now);
    };
    await sell('a', 'model-1', 100n, 90_000_000n, 2_000);
    await sell('b', 'model-1', 10n, undefined, 2_000);
    await sell('c', 'model-2', 7n, 6_000_000n, 2_000);
    await sell('d', 'model-2', 7n, 6_000_000n, 1_000);
    const route = 'v1/chat/completions';
    t.same(await store.credits.sales(1_500), [
      { route, model: 'model-1', calls: 2, price: 110n, known: { calls: 1, price: 100n, cost: 90_000_000n } },
      { route, model: 'model-2', calls: 1, price: 7n, known: { calls: 1, price: 7n, cost: 6_000_000n } },
    ]);
  });

  promise('keeps one secret of a name, whichever instance made it', async (t, store, open) => {
    const other = await open();
    t.equal(await store.credits.knownSecret('keys'), undefined);
    const secrets = await Promise.all([store.credits.secret('keys', 'one'), other.credits.secret('keys', 'two')]);
    t.equal(secrets[0], secrets[1]);
    t.ok(['one', 'two'].includes(secrets[0]), secrets[0]);
    t.equal(await other.credits.secret('keys', 'three'), secrets[0]);
    t.equal(await other.credits.knownSecret('keys'), secrets[0]);
  });

  promise(
    'keeps every balance the sum of its ledger, in every order of events',
    async (_t, store, open) => {
      await creditHistoryProperty(store, await open());
    },
    'long',
  );

  promise('posts what waits for confirmations only once it is confirmed', async (t, store) => {
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    const settle = await fulfilledPayment(store, 'paid');
    const purchase = { ...samplePurchase('paid', { hash: sampleHash('key') }), awaitsConfirmations: true };
    await store.credits.purchase(purchase, 2);
    t.same(await store.credits.unconfirmed(10), [], 'nothing is settled yet');
    t.equal(await store.credits.confirm('paid'), false);
    await settle();
    t.same(await store.credits.unconfirmed(10), ['paid']);
    t.equal((await keyOf(store)).balance, 0n);
    t.equal(await store.credits.confirm('paid'), true);
    t.equal(await store.credits.confirm('paid'), false);
    t.equal((await keyOf(store)).balance, 500n);
    t.equal(await store.reopen('paid', 'too late', 9), false, 'what was posted stays');
    t.match(await store.find('paid'), { state: 'settled' });
  });

  promise('knows what was bought for a key and does not count yet', async (t, store) => {
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    const settle = await fulfilledPayment(store, 'waits');
    await store.credits.purchase(
      { ...samplePurchase('waits', { hash: sampleHash('key') }), awaitsConfirmations: true },
      2,
    );
    const { id } = await keyOf(store);
    t.same(await store.credits.pending(id), [], 'nothing is settled yet');
    await settle();
    t.same(await store.credits.pending(id), [{ paymentId: 'waits', amount: 500n }]);
    t.same(await store.credits.pending('another'), []);
    await store.reopen('waits', 'taken back', 9);
    t.same(await store.credits.pending(id), [{ paymentId: 'waits', amount: 500n }], 'it may settle again');
    await store.resolve('waits', { state: 'settled', receipt: sampleReceipt('again') }, 10);
    await store.credits.confirm('waits');
    await keyOf(store);
    t.same(await store.credits.pending(id), []);
  });

  promise('never posts what its chain took back, unless it settles again', async (t, store) => {
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    const settle = await fulfilledPayment(store, 'lost');
    const purchase = { ...samplePurchase('lost', { hash: sampleHash('key') }), awaitsConfirmations: true };
    await store.credits.purchase(purchase, 2);
    await settle();
    t.equal(await store.reopen('lost', 'taken back', 9), true);
    t.match(await store.find('lost'), { state: 'unknown', receipt: undefined, reason: 'taken back' });
    t.equal(await store.credits.confirm('lost'), false);
    t.equal((await keyOf(store)).balance, 0n);
    await store.resolve('lost', { state: 'settled', receipt: sampleReceipt('again') }, 10);
    t.same(await store.credits.unconfirmed(10), ['lost'], 'and waits again');
    await store.credits.confirm('lost');
    t.equal((await keyOf(store)).balance, 500n);
  });

  promise('takes back no payment but one of a purchase that waits', async (t, store) => {
    await finished(store, 'answered');
    t.equal(await store.reopen('answered', 'taken back', 9), false);
    t.match(await store.find('answered'), { state: 'settled' });
  });
}
