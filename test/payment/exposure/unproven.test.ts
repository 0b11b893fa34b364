/** What all payers together may have under way beyond what they settled before. */
import t from 'tap';
import { createLog } from '../../../src/log.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { usd } from '../../../src/money.ts';
import { createExposureControl } from '../../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../../src/payment/exposure/policy.ts';
import { openSqliteStore } from '../../../src/store/sqlite.ts';
import { sampleAnswer, sampleFacts } from '../../store/samples.ts';

const DECIMALS = 6;

function open() {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const control = createExposureControl({
    policy: exposurePolicy({ new: '0.50', perHour: '1.00' }),
    store,
    idOf: (network) => network,
    worth: ({ amount }) => BigInt(amount),
    metrics: createMetrics(),
    log: createLog('silent'),
    now: () => 1_000,
  });
  const leftForOne = () => {
    const { limits, release } = control.reserve(0n, DECIMALS);
    release();
    return limits.unproven;
  };
  return { store, control, leftForOne };
}

t.test('payers without a record together may have no more under way than may be lost in an hour', async (t) => {
  const { control, leftForOne } = open();
  const first = control.reserve(usd('0.40'), DECIMALS);
  t.equal(first.limits.unproven, 500_000n, 'each alone: what a new payer may');
  const second = control.reserve(usd('0.40'), DECIMALS);
  t.equal(leftForOne(), 200_000n, 'together: what is left');
  control.reserve(usd('0.40'), DECIMALS);
  t.equal(leftForOne(), 0n);
  second.release();
  t.equal(
    leftForOne(),
    200_000n,
    'a payment that settles first, or that its payer’s record covers, takes nothing of it',
  );
  first.workEnded();
  t.equal(leftForOne(), 200_000n, 'what ended may be lost: nobody knows before losses are measured again');
  await control.refresh();
  t.equal(leftForOne(), 500_000n);
});

t.test('work whose settlement has no answer yet counts as lost until it has one', async (t) => {
  const { store, control, leftForOne } = open();
  const facts = sampleFacts('open', { amount: '700000' });
  const outcome = await store.claim(facts, { owner: 'o', now: 1, leaseUntil: 9, maxAttempts: 3, maxOwedAttempts: 3 });
  if (!outcome.won) throw new Error('the payment was not won');
  await store.fulfil(outcome.claim, sampleAnswer(), { now: 2 });
  await store.giveUp(outcome.claim, 'unknown', 'no answer', 3);
  await control.refresh();
  t.equal(leftForOne(), 300_000n);
  await store.resolve('open', { state: 'refused', reason: 'taken back' }, 4);
  await control.refresh();
  t.equal(leftForOne(), 300_000n, 'lost by now');
});
