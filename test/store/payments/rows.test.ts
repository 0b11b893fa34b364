import t from 'tap';
import { toApiKey, toEntry, toHeld, toLockedKey } from '../../../src/store/credits/credit-row.ts';
import type { Row } from '../../../src/store/engines/statement.ts';
import { plus, receiptIn, toSum, toTakenBack, toVisit } from '../../../src/store/figures/figures-row.ts';
import { migrationsFrom, schemaVersion, sqliteDialect } from '../../../src/store/migrations/migrations.ts';
import { PAGE, pages, paidIn } from '../../../src/store/pages.ts';
import { toLoss, toPaid, toPayment, toSale } from '../../../src/store/payments/row.ts';
import type { PaidPosition } from '../../../src/store/store.ts';
import { FORGOTTEN, isForgotten } from '../../../src/store/stored-answer.ts';
import { sampleAnswer, sampleReceipt } from '../samples.ts';

const receipt = sampleReceipt();

/** As SQLite has it; Postgres gives 64-bit integers as texts. */
const payment: Row = {
  ...{ id: 'one', rail: 'x402', network: 'chain-a', asset: 'asset-1', payer: 'payer-1', pay_to: 'merchant-1' },
  ...{ amount: '70', route: 'image/sample', request_digest: 'd', fingerprint: 'f', recovery_query: '{}' },
  ...{ settle_upfront: 1, door: 'mcp', state: 'settled', attempt: 2, owner: '', lease_until: 0 },
  ...{ answer: JSON.stringify(sampleAnswer()), receipt: JSON.stringify(receipt), cost: '7', reason: 'why' },
  ...{ created_at: 1, updated_at: 2, key_id: 'key' },
};

const read = {
  ...{ id: 'one', rail: 'x402', network: 'chain-a', asset: 'asset-1', payer: 'payer-1', payTo: 'merchant-1' },
  ...{ amount: '70', route: 'image/sample', requestDigest: 'd', fingerprint: 'f', recoveryQuery: '{}' },
  ...{ settleUpfront: true, door: 'mcp', state: 'settled', attempt: 2, owner: '', leaseUntil: 0 },
  ...{ answer: sampleAnswer(), receipt, cost: '7', reason: 'why', createdAt: 1, updatedAt: 2 },
};

t.test('reads a payment as it was written, whichever way its numbers come', async (t) => {
  t.same(toPayment(payment), read);
  const texts = { settle_upfront: '1', attempt: '2', lease_until: '0', created_at: '1', updated_at: '2' };
  t.same(toPayment({ ...payment, ...texts }), read);
  t.equal(toPayment({ ...payment, settle_upfront: 0 }).settleUpfront, false);
});

t.test('reads what a payment has not as nothing at all', async (t) => {
  for (const column of ['answer', 'receipt', 'cost', 'reason'] as const) {
    t.same(toPayment({ ...payment, [column]: null }), { ...read, [column]: undefined }, column);
    const { [column]: _, ...others } = payment;
    t.same(toPayment(others), { ...read, [column]: undefined }, `${column} was not asked for`);
  }
  const { door, ...others } = payment;
  t.notOk('door' in toPayment({ ...others, door: null }));
  t.notOk('door' in toPayment(others));
});

t.test('reads an answer that was kept long enough as a forgotten one', async (t) => {
  t.equal(toPayment({ ...payment, answer: '' }).answer, FORGOTTEN);
  t.equal(isForgotten(FORGOTTEN), true);
  t.equal(isForgotten(sampleAnswer()), false);
});

t.test('names the column that cannot be read, and nothing of what it holds', async (t) => {
  const needed = [
    'id',
    'payer',
    'amount',
    'request_digest',
    'settle_upfront',
    'state',
    'attempt',
    'owner',
    'updated_at',
  ];
  for (const column of needed) {
    for (const empty of [null, undefined]) {
      const row = { ...payment, [column]: empty } as Row;
      t.throws(() => toPayment(row), { message: `payments.${column} is empty in a row of the database` });
    }
  }
  const damaged: [column: string, value: string][] = [
    ['amount', '1e6'],
    ['amount', '-70'],
    ['amount', ''],
    ['answer', '{"secret":'],
    ['receipt', '{"secret":'],
    ['receipt', 'null'],
    ['receipt', '{}'],
    ['receipt', '{"amount":"-1"}'],
  ];
  for (const [column, value] of damaged) {
    const message = `payments.${column} cannot be read in a row of the database`;
    t.throws(() => toPayment({ ...payment, [column]: value }), { message }, `${column}: ${value}`);
  }
});

t.test('reads of a settled payment what it came to, by its receipt', async (t) => {
  t.same(toSale(payment), {
    ...{ id: 'one', rail: 'x402', route: 'image/sample', asset: 'asset-1' },
    ...{ amount: receipt.amount, cost: '7', createdAt: 1, keyId: 'key' },
  });
  const { rail, network, asset, payer, payTo, route, state, cost } = read;
  const paid = { id: 'one', rail, network, asset, payer, payTo, route, state, cost, receipt };
  const answered = { ...paid, isAnswered: true };
  t.same(toPaid({ ...payment, is_answered: 1 }), { ...answered, keyId: 'key' });
  t.same(toPaid({ ...payment, is_answered: 0 }), { ...paid, isAnswered: false, keyId: 'key' });
  t.same(toPaid({ ...payment, is_answered: 1, key_id: null, cost: null }), {
    ...answered,
    keyId: undefined,
    cost: undefined,
  });
  for (const readOne of [toSale, toPaid]) {
    t.throws(() => readOne({ ...payment, receipt: null }), { message: /payments\.receipt is empty/ });
    t.throws(() => readOne({ ...payment, receipt: '{"amount":"much"}' }), {
      message: /payments\.receipt cannot be read/,
    });
  }
});

t.test('takes a loss for certain unless its settlement has no answer', async (t) => {
  const { network, route, payer, asset, amount } = read;
  t.same(toLoss({ ...payment, state: 'unsettled' }), { isCertain: true, network, route, payer, asset, amount });
  t.same(toLoss({ ...payment, state: 'unknown' }), { isCertain: false, network, route, payer, asset, amount });
  t.throws(() => toLoss({ ...payment, amount: '1e6' }), { message: /payments\.amount cannot be read/ });
});

t.test('reads no key, hold or entry of which something is missing', async (t) => {
  const key: Row = {
    ...{ id: 'key', hash: 'h', shown: 's', label: '', limits: '{}', balance: '5', entries: 1, day: 3, spent: '2' },
    ...{ held: '1', created_at: 4, expires_at: null, disabled_at: null },
  };
  const locked = { id: 'key', limits: {}, balance: 5n, entries: 1, day: 3, spent: 2n };
  t.same(toLockedKey(key), { ...locked, expiresAt: undefined, disabledAt: undefined });
  t.same(toLockedKey({ ...key, expires_at: '9', disabled_at: 8 }), { ...locked, expiresAt: 9, disabledAt: 8 });
  t.match(toApiKey(key), { label: '', held: 1n, spent: { day: 3, amount: 2n }, expiresAt: undefined });
  const hold: Row = { id: 'call', key_id: 'key', amount: '6', day: 3, route: 'r', model: '', lease_until: '7' };
  t.same(toHeld(hold), { id: 'call', keyId: 'key', amount: 6n, day: 3, route: 'r', model: '' });
  const entry: Row = {
    ...{ key_id: 'key', number: 1, kind: 'grant', amount: '5', balance: '5', reference: 'start', created_at: 4 },
    ...{ route: null, model: null, price: null, cost: null, note: null },
  };
  const reads: [readOne: (row: Row) => unknown, row: Row, columns: string[]][] = [
    [toLockedKey, key, ['balance', 'entries', 'spent', 'limits']],
    [toApiKey, key, ['hash', 'held', 'created_at']],
    [toHeld, hold, ['amount', 'day']],
    [toEntry, entry, ['number', 'kind', 'reference']],
  ];
  for (const [readOne, row, columns] of reads) {
    for (const column of columns) {
      for (const empty of [null, undefined]) {
        const message = `${column} is empty in a row of the database`;
        t.throws(() => readOne({ ...row, [column]: empty } as Row), { message });
      }
    }
  }
});

/** A movement of a payment, as it is counted. */
const movement: Row = {
  ...{ kind: 'payment', id: 'one', number: 0, at: 3_600_001, route: 'r', door: 'x402', network: 'n', asset: 'a' },
  ...{ amount: JSON.stringify({ amount: '70', transaction: '0xabc' }), cost: '0.5', transaction_id: '0xabc' },
  ...{ revenue_counted: 0, cost_counted: 0, is_answered: 1 },
};
const place = { at: 3_600_001, route: 'r', door: 'x402', network: 'n', asset: 'a' };

t.test('counts of a payment what is not counted yet, and takes back what is', async (t) => {
  const cases: [revenue: number, cost: number, counted: object, takenBack: object][] = [
    [0, 0, { settled: 1, revenue: 70n, cost: 500_000_000_000n }, { settled: 0, revenue: 0n, cost: 0n }],
    [1, 0, { settled: 0, revenue: 0n, cost: 500_000_000_000n }, { settled: -1, revenue: -70n, cost: 0n }],
    [1, 1, { settled: 0, revenue: 0n, cost: 0n }, { settled: -1, revenue: -70n, cost: -500_000_000_000n }],
  ];
  for (const [revenue_counted, cost_counted, counted, takenBack] of cases) {
    const row = { ...movement, revenue_counted, cost_counted };
    t.same(toSum(row), { ...place, ...counted, refunds: 0n });
    t.same(toTakenBack(row), { ...place, ...takenBack, refunds: 0n });
  }
});

t.test('counts what cannot be read of a movement as nothing', async (t) => {
  const nothing = { ...place, settled: 1, revenue: 0n, cost: 0n, refunds: 0n };
  for (const amount of ['{"amount":', 'null', '{}', '{"amount":"much"}', '7']) {
    t.same(toSum({ ...movement, amount, cost: null }), nothing, amount);
  }
  t.same(toSum({ ...movement, amount: '{', cost: 'about a dollar' }), nothing);
  t.same(toSum({ ...movement, kind: 'refund', amount: 'much' }), { ...nothing, settled: 0 });
  t.same(receiptIn('{"amount":"70","transaction":7}'), { amount: 70n, transaction: undefined });
  t.same(receiptIn('{"amount":"70","transaction":"0xabc"}'), { amount: 70n, transaction: '0xabc' });
  t.same(receiptIn('null'), { amount: 0n, transaction: undefined });
  const visit: Row = {
    ...{ payment_id: 'one', request_id: 'r', at: '5', attempt: null, door: 'x402', status: 200, steps: '[{"at":' },
  };
  t.same(toVisit(visit), {
    ...{ paymentId: 'one', requestId: 'r', at: 5, attempt: undefined, door: 'x402', status: 200, steps: [] },
  });
  t.equal(toVisit({ ...visit, attempt: '2' }).attempt, 2);
});

t.test('adds one sum to another, or to none', async (t) => {
  const sum = { ...place, settled: 1, revenue: 2n, cost: 3n, refunds: 4n };
  t.same(plus(sum, undefined), sum);
  t.same(plus(sum, { ...sum, settled: 10, revenue: 20n, cost: 30n, refunds: 40n }), {
    ...{ ...place, settled: 11, revenue: 22n, cost: 33n, refunds: 44n },
  });
});

t.test('reads a list on until a page is not full', async (t) => {
  for (const [length, most] of [
    [0, 1],
    [PAGE - 1, 1],
    [PAGE, 2],
    [2 * PAGE + 1, 3],
  ] as const) {
    const items = Array.from({ length }, (_, item) => item);
    const asked: (number | undefined)[] = [];
    const read = async (after: number | undefined) => {
      // Who reads on for ever is stopped here.
      if (asked.push(after) > most) throw new Error(`a list of ${length} was asked for more than ${most} pages`);
      const start = after === undefined ? 0 : after + 1;
      return items.slice(start, start + PAGE);
    };
    const found: number[] = [];
    for await (const item of pages(read)) found.push(item);
    t.same(found, items, String(length));
    t.equal(asked.length, most);
  }
});

t.test('reads the books on until they say that there is no more', async (t) => {
  const asked: (PaidPosition | undefined)[] = [];
  const paid = toPaid(payment);
  const position = { settledAt: 7, id: 'one' };
  const store = {
    async paid(page: { from: number; to: number; after: PaidPosition | undefined; limit: number }) {
      t.match(page, { from: 5, to: 9, limit: PAGE });
      if (asked.push(page.after) > 2) throw new Error('there are two pages');
      return page.after ? { payments: [paid], next: undefined } : { payments: [paid, paid], next: position };
    },
  };
  const found: object[] = [];
  for await (const one of paidIn(store, { from: 5, to: 9 })) found.push(one);
  t.same(found, [paid, paid, paid]);
  t.same(asked, [undefined, position]);
});

t.test('takes a database from any older version to the newest, and none from the future', async (t) => {
  t.equal(migrationsFrom(0, sqliteDialect).length, schemaVersion);
  t.equal(migrationsFrom(schemaVersion - 1, sqliteDialect).length, 1);
  t.same(migrationsFrom(schemaVersion, sqliteDialect), []);
  const future = {
    message: new RegExp(`version ${schemaVersion + 1}, and this release knows up to ${schemaVersion}: `),
  };
  t.throws(() => migrationsFrom(schemaVersion + 1, sqliteDialect), future);
});
