import t from 'tap';
import {
  type Atomic,
  atomicToDecimal,
  divideUp,
  type Money,
  type Rate,
  rateToMoney,
  toAtomic,
  toDecimal,
  usd,
} from '../src/money.ts';

t.test('an asset that is coarser than a millionth is paid in whole units, rounded up', async (t) => {
  const cents: [dollars: string, atomic: bigint][] = [
    ['0', 0n],
    ['0.000001', 1n],
    ['0.009999', 1n],
    ['0.01', 1n],
    ['0.010001', 2n],
    ['0.07', 7n],
    ['0.0701', 8n],
    ['1', 100n],
    ['999999999999.999999', 100_000_000_000_000n],
  ];
  for (const [dollars, atomic] of cents) t.equal(toAtomic(usd(dollars), 2), atomic, dollars);
  t.equal(toAtomic(usd('0.000001'), 0), 1n);
  t.equal(toAtomic(usd('1.000001'), 0), 2n);
  t.equal(toAtomic(usd('2'), 0), 2n);
  t.equal(toAtomic(usd('0.00001'), 5), 1n);
  t.equal(toAtomic(usd('0.000011'), 5), 2n);
});

t.test('an asset that is as fine as a millionth or finer is paid exactly', async (t) => {
  t.equal(toAtomic(usd('0.070001'), 6), 70_001n);
  t.equal(toAtomic(usd('0.070001'), 8), 7_000_100n);
  t.equal(toAtomic(usd('1.000001'), 18), 1_000_001_000_000_000_000n);
});

t.test('what is less than a unit is rounded up, and nothing stays nothing', async (t) => {
  t.equal(divideUp(0n, 7n), 0n);
  t.equal(divideUp(1n, 7n), 1n);
  t.equal(divideUp(7n, 7n), 1n);
  t.equal(divideUp(8n, 7n), 2n);
  t.equal(rateToMoney(0n), 0n);
  t.equal(rateToMoney(1n), 1n);
  t.equal(rateToMoney(1_000_000n), 1n);
  t.equal(rateToMoney(1_000_001n), 2n);
});

t.test('amounts are written as decimals, whatever their asset', async (t) => {
  t.equal(toDecimal(50_000n), '0.05');
  t.equal(toDecimal(1n), '0.000001');
  t.equal(toDecimal(12_000_000n), '12');
  t.equal(atomicToDecimal(8n, 2), '0.08');
  t.equal(atomicToDecimal(1_230n, 2), '12.3');
  t.equal(atomicToDecimal(12n, 0), '12');
  t.equal(atomicToDecimal(1_000_001_000_000_000_000n, 18), '1.000001');
});

t.test('an amount is a decimal string and nothing else', async (t) => {
  t.equal(usd('0.05'), 50_000n);
  t.equal(usd('999999999999.999999'), 999_999_999_999_999_999n);
  const wrong = [
    '',
    '-1',
    '+1',
    '.5',
    '5.',
    '01',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    '1,5',
    '0.0000001',
    '1000000000000',
    'NaN',
  ];
  for (const text of wrong) t.throws(() => usd(text), { name: 'AmountProblem' }, text);
});

/** Whether a value of one type is taken where the other is wanted: the compiler fills this in. */
type Taken<Value, Wanted> = Value extends Wanted ? true : false;

t.test('an amount in one unit does not compile where another unit is wanted', async (t) => {
  const mixed: [
    Taken<Money, Atomic>,
    Taken<Atomic, Money>,
    Taken<Money, Rate>,
    Taken<Rate, Money>,
    Taken<Atomic, Rate>,
    Taken<Rate, Atomic>,
  ] = [false, false, false, false, false, false];
  const same: [Taken<Money, Money>, Taken<Atomic, Atomic>, Taken<bigint, Money>] = [true, true, true];
  t.same(new Set(mixed), new Set([false]));
  t.same(new Set(same), new Set([true]));
});
