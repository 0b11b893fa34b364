import type { Test } from 'tap';
import { UNCOUNTED_AT_ONCE } from '../../../src/store/figures/figures-statements.ts';
import type { CallCount, MoneySum, Span } from '../../../src/store/figures/figures-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { won } from '../arrivals.ts';
import { addFunded, sampleHash, sampleHold, sampleKey, samplePurchase } from '../credits/credit-samples.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The beginning of a day. */
const T = 20_000 * DAY;
const ALL = { from: 0, to: T + 365 * DAY };

async function settled(store: Store, id: string, settledAt: number, changes: object = {}): Promise<void> {
  const claim = await won(store, sampleFacts(id, changes), claimAt(T));
  await store.fulfil(claim, sampleAnswer(), { cost: '0.000000000007', now: T });
  await store.settle(claim, { ...sampleReceipt(`tx${id}`), settledAt }, T);
}

const read = async (store: Store, span: Span = 'hour', period = ALL): Promise<MoneySum[]> =>
  (await store.figures.money({ span, ...period })).sums.toSorted((one, other) =>
    JSON.stringify([one.at, one.route, one.door]) < JSON.stringify([other.at, other.route, other.door]) ? -1 : 1,
  );

/** Until nothing is left, a few at a time. */
async function countAll(store: Store): Promise<void> {
  while (await store.figures.count(3));
}

/** Holds before anything is counted, in between, and afterwards however often. */
async function throughout(store: Store, check: () => Promise<unknown>): Promise<void> {
  await check();
  await store.figures.count(1);
  await check();
  await countAll(store);
  await check();
  await countAll(store);
  await check();
}

const AMOUNT = BigInt(sampleReceipt().amount);
const place = { route: 'image/sample', door: 'x402', network: 'chain-a', asset: 'asset-1' };

/** What the operator's console reads. */
export function figures(promise: Promised): void {
  promise('says whether more may be left to count than was counted at once', async (t, store) => {
    t.equal(await store.figures.count(2), false, 'nothing happened');
    for (const id of ['a', 'b', 'c']) await settled(store, id, T);
    t.equal((await store.figures.money({ span: 'hour', ...ALL })).isWhole, true, 'what is not counted is in it');
    t.equal(await store.figures.count(2), true);
    t.equal(await store.figures.count(2), false);
    await settled(store, 'd', T);
    t.equal(await store.figures.count(1), true, 'as many as were allowed: nobody looked further');
    t.equal(await store.figures.count(1), false);
    t.match(await store.figures.money({ span: 'hour', ...ALL }), { sums: [{ settled: 4 }], isWhole: true });
  });

  promise('takes nothing back of what no chain took back', async (t, store) => {
    await settled(store, 'answered', T);
    await countAll(store);
    const before = await read(store);
    t.equal(await store.reopen('answered', 'gone', T + 1), false);
    t.equal(await store.reopen('never', 'gone', T + 1), false);
    t.same(await read(store), before);
  });

  promise('adds up what settled, each payment once, however large the sums are', async (t, store, open) => {
    for (const [id, at] of [
      ['a', T],
      ['b', T + HOUR - 1],
      ['c', T + HOUR],
      ['d', T + DAY],
    ] as const)
      await settled(store, id, at);
    await settled(store, 'tool', T, { door: 'mcp' });
    await won(store, sampleFacts('open'), claimAt(T));
    const sum = { ...place, settled: 1, revenue: AMOUNT, cost: 7n, refunds: 0n };
    const twice = { ...sum, settled: 2, revenue: 2n * AMOUNT, cost: 14n };
    await throughout(store, async () => {
      t.same(await read(store), [
        { ...sum, at: T, door: 'mcp' },
        { ...twice, at: T },
        { ...sum, at: T + HOUR },
        { ...sum, at: T + DAY },
      ]);
      const days = [
        { ...sum, at: T, door: 'mcp' },
        { ...twice, settled: 3, revenue: 3n * AMOUNT, cost: 21n, at: T },
        { ...sum, at: T + DAY },
      ];
      t.same(await read(store, 'day'), days);
      t.same(await read(store, 'hour', { from: T + HOUR, to: T + DAY }), [{ ...sum, at: T + HOUR }]);
    });
    t.same(await read(await open()), await read(store));
  });

  promise('counts each payment once, also where several instances count', async (t, store, open) => {
    const others = [store, await open(), await open()];
    for (let each = 0; each < 30; each += 1) await settled(store, `p${each}`, T + each);
    await Promise.all(others.map(countAll));
    t.match(await read(store), [{ settled: 30, revenue: 30n * AMOUNT }]);
  });

  promise('counts what is owed when it settles, and its cost when its answer comes', async (t, store) => {
    const owed = await won(store, sampleFacts('owed'), claimAt(T));
    await store.settle(owed, { ...sampleReceipt(), settledAt: T }, T);
    await throughout(store, async () => t.match(await read(store), [{ settled: 1, revenue: AMOUNT, cost: 0n }]));
    await store.giveUp(owed, 'owed', 'upstream_failed', T);
    const again = await won(store, sampleFacts('owed'), claimAt(T + 20));
    await store.fulfil(again, sampleAnswer(), { cost: '0.5', now: T + HOUR });
    await throughout(store, async () =>
      t.match(await read(store), [{ at: T, settled: 1, revenue: AMOUNT, cost: 500_000_000_000n }]),
    );
  });

  promise('takes back what was counted of a payment that its chain took back', async (t, store) => {
    await store.credits.addKey(sampleKey('key'), undefined, 1);
    for (const isCounted of [false, true]) {
      const id = `credits ${isCounted}`;
      await settled(store, id, T);
      await store.credits.purchase(
        { ...samplePurchase(id, { hash: sampleHash('key') }), awaitsConfirmations: true },
        T,
      );
      if (isCounted) await countAll(store);
      t.ok(await store.reopen(id, 'gone', T + 1));
      t.notOk(await store.reopen(id, 'gone', T + 1));
      await throughout(store, async () => {
        for (const sum of await read(store)) t.match(sum, { settled: 0, revenue: 0n, cost: 0n });
      });
    }
    await store.resolve(
      'credits true',
      { state: 'settled', receipt: { ...sampleReceipt('txnew'), settledAt: T + HOUR } },
      T + 2,
    );
    await throughout(store, async () =>
      t.match((await read(store)).at(-1), { at: T + HOUR, settled: 1, revenue: AMOUNT }),
    );
    t.match(await store.list({ transaction: 'txnew', limit: 2 }), [{ id: 'credits true' }]);
  });

  promise('counts refunds when they are sent, and what API keys were charged', async (t, store) => {
    await settled(store, 'paid', T);
    await store.refunds.want({ paymentId: 'paid', amount: 5n, reason: 'why', isAutomatic: false, now: T });
    await addFunded(store, 10_000n);
    await store.credits.hold(sampleHold('call', 100n, { now: T }));
    await store.credits.settle('call', { price: 60n, cost: 9n, note: 'used' }, T + 1);
    await store.credits.hold(sampleHold('failed', 100n, { now: T }));
    await store.credits.release('failed', 'failed', T);
    const charged = { at: T, route: 'v1/chat/completions', door: 'api-key', network: '', asset: '' };
    await throughout(store, async () => {
      const [sale, key] = await read(store);
      t.match(sale, { settled: 1, refunds: 0n });
      t.same(key, { ...charged, settled: 1, revenue: 60n, cost: 9n, refunds: 0n });
    });
    await store.credits.refund({ call: 'call', amount: 20n, reason: 'why', reference: 'one', now: T + 3 });
    await store.refunds.sent({ paymentId: 'paid', number: 1 }, 'txback', T + 2 * HOUR);
    await throughout(store, async () =>
      t.match(await read(store), [
        { at: T, refunds: 0n },
        { at: T, door: 'api-key', revenue: 60n, refunds: 20n },
        { ...place, at: T + 2 * HOUR, settled: 0, revenue: 0n, refunds: 5n },
      ]),
    );
    await store.refunds.want({ paymentId: 'paid', amount: 7n, reason: 'more', isAutomatic: false, now: T });
    await store.refunds.sent({ paymentId: 'paid', number: 2 }, 'txmore', T + 2 * HOUR + 1);
    await throughout(store, async () => t.match((await read(store)).at(-1), { at: T + 2 * HOUR, refunds: 12n }));
  });

  promise('adds what instances count of calls and of exchanges', async (t, store, open) => {
    const count: CallCount = {
      at: T + 5,
      endpoint: 'image/sample',
      door: 'mcp',
      network: 'chain-a',
      bucket: 100,
      calls: 2,
      failures: 1,
      challenges: 3,
    };
    const exchange = { at: T + 5, upstream: 'pictures', bucket: 250, calls: 1, failures: 1, spend: 10n ** 19n };
    const other = await open();
    const instances = [store, other].map((each, index) => ({ ...each.figures, counter: `instance ${index}` }));
    for (const number of [1, 1, 2]) {
      // The second time nothing is added, for that was.
      const counts = number === 1 ? [count] : [{ ...count, at: T + HOUR }];
      await Promise.all(instances.map((each) => each.addCalls(counts, { counter: `${each.counter}: calls`, number })));
    }
    for (const number of [1, 1]) {
      await Promise.all(instances.map((each) => each.addExchanges([exchange], { counter: each.counter, number })));
    }
    const calls = async (span: Span) => (await store.figures.calls({ span, ...ALL })).toSorted((a, b) => a.at - b.at);
    const twice = { ...count, calls: 4, failures: 2, challenges: 6 };
    t.same(await calls('hour'), [
      { ...twice, at: T },
      { ...twice, at: T + HOUR },
    ]);
    t.same(await calls('day'), [{ ...count, at: T, calls: 8, failures: 4, challenges: 12 }]);
    for (const span of ['hour', 'day'] as const) {
      t.same(await store.figures.exchanges({ span, ...ALL }), [
        { ...exchange, at: T, calls: 2, failures: 2, spend: 2n * 10n ** 19n },
      ]);
    }
  });

  promise('keeps what visits that paid went through, until they are forgotten', async (t, store) => {
    const visit = {
      paymentId: 'paid',
      requestId: 'one',
      at: T,
      attempt: 1,
      door: 'x402',
      status: 200,
      steps: [
        { at: T, step: 'verified', ms: 3 },
        { at: T + 3, step: 'upstream', ms: 4, detail: 'pictures answered 200' },
      ],
    };
    const replay = { ...visit, requestId: 'two', at: T + 9, attempt: undefined, steps: [] };
    await store.figures.addVisits([replay, visit, { ...visit, paymentId: 'another' }]);
    await store.figures.addVisits([visit]);
    t.same(await store.figures.visitsOf('paid'), [visit, replay]);
    await settled(store, 'p', T);
    await countAll(store);
    await store.figures.forget({ visits: T + 1, hours: T + 1 });
    t.same(await store.figures.visitsOf('paid'), [replay]);
    t.same(await read(store, 'hour'), []);
    t.match(await read(store, 'day'), [{ settled: 1 }]);
  });

  promise('keeps no more visits of one payment than anybody is shown', async (t, store) => {
    const visit = (at: number) => ({
      ...{ paymentId: 'paid', requestId: `request ${at}`, at: T + at, attempt: undefined },
      ...{ door: 'x402', status: 200, steps: [] },
    });
    const visits = Array.from({ length: 150 }, (_, at) => visit(at));
    await store.figures.addVisits(visits.slice(0, 99));
    await store.figures.addVisits([...visits.slice(90), { ...visit(150), paymentId: 'another' }]);
    t.same(await store.figures.visitsOf('paid'), visits.slice(0, 100));
    t.equal((await store.figures.visitsOf('another')).length, 1);
    await store.figures.forget({ visits: T + 100, hours: T });
    t.same(await store.figures.visitsOf('paid'), [], 'nothing is behind them');
    await store.figures.addVisits([visit(151)]);
    t.same(await store.figures.visitsOf('paid'), [visit(151)]);
  });

  promise('lists what one route sold, and what was paid on one network', async (t, store) => {
    await won(store, sampleFacts('a', { route: 'r1', network: 'n1' }), claimAt(1));
    await won(store, sampleFacts('b', { route: 'r2', network: 'n1' }), claimAt(2));
    await won(store, sampleFacts('c', { route: 'r1', network: 'n2', payer: 'p' }), claimAt(3));
    const ids = async (filter: object) => (await store.list({ ...filter, limit: 9 })).map(({ id }) => id);
    t.same(await ids({ route: 'r1' }), ['c', 'a']);
    t.same(await ids({ network: 'n1' }), ['b', 'a']);
    t.same(await ids({ route: 'r1', network: 'n1', states: ['claimed'] }), ['a']);
    t.same(await ids({ payer: 'p', route: 'r1', states: ['claimed'] }), ['c']);
    t.same(await ids({ payer: 'p', network: 'n1' }), []);
  });

  promise('tells which refunds wait, the oldest first', async (t, store) => {
    for (const id of ['a', 'b', 'c']) {
      await settled(store, id, T);
      await store.refunds.want({ paymentId: id, reason: 'why', isAutomatic: false, now: T + id.charCodeAt(0) });
    }
    await store.refunds.sent({ paymentId: 'b', number: 1 }, 'txback', T);
    t.match(await store.refunds.open(9), [{ paymentId: 'a' }, { paymentId: 'c' }]);
    t.match(await store.refunds.open(1), { length: 1 });
  });

  promise('bounds what a key may spend in a day from now on, and leaves its other bounds', async (t, store) => {
    await addFunded(store, 10_000n, { limits: { perCall: 500n } });
    t.ok(await store.credits.limitKey('key', 100n));
    t.match(await store.credits.hold(sampleHold('much', 200n)), { held: false, because: 'per-day' });
    t.match(await store.credits.hold(sampleHold('little', 60n, { now: T })), { held: true });
    const [key] = await store.credits.listKeys(T);
    t.match(key, { limits: { perCall: 500n, perDay: 100n }, spent: { day: T / DAY, amount: 60n } });
    t.ok(await store.credits.limitKey('key', undefined));
    t.match(await store.credits.hold(sampleHold('much', 200n)), { held: true });
    t.same((await store.credits.listKeys(T))[0]?.limits, { perCall: 500n });
    t.notOk(await store.credits.limitKey('none', 1n));
  });
}

/** `insert` writes settled payments with the numbers from one to the other, which are their times. */
export async function saysWhereSumsLackSome(
  t: Test,
  store: Store,
  insert: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  const money = () => store.figures.money({ span: 'day', from: 0, to: DAY });
  await insert(0, 0);
  t.equal(await store.figures.count(2), false);
  await insert(1, UNCOUNTED_AT_ONCE - 1);
  t.match(
    await money(),
    { sums: [{ settled: UNCOUNTED_AT_ONCE }], isWhole: true },
    'what is counted is not in the way',
  );
  await insert(UNCOUNTED_AT_ONCE, UNCOUNTED_AT_ONCE + 1);
  t.match(await money(), { sums: [{ settled: UNCOUNTED_AT_ONCE + 1 }], isWhole: false });
  t.equal(await store.figures.count(1), true);
  t.match(await money(), { isWhole: false }, 'there may be more than the sums have');
  t.equal(await store.figures.count(UNCOUNTED_AT_ONCE + 1), false);
  t.match(await money(), { sums: [{ settled: UNCOUNTED_AT_ONCE + 2 }], isWhole: true });
}
