/** What alerts know of earnings and costs. */
import t from 'tap';
import { openTally } from '../../src/alerts/tally.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const MINUTE_MS = 60_000;
const NOON = Date.parse('2026-11-22T12:00:00Z');

t.test('the cost of work that was paid first and took long is counted when it is done', async (t) => {
  const store = openSqliteStore(':memory:', { now: () => NOON });
  t.teardown(() => store.close());
  const tally = openTally({ store, worth: () => 70_000n });
  const outcome = await store.claim(sampleFacts('film', { settleUpfront: true }), claimAt(NOON));
  if (!outcome.won) throw new Error('somebody else has it');
  await store.settle(outcome.claim, { ...sampleReceipt(), settledAt: NOON }, NOON);
  await tally.count(NOON);
  await tally.count(NOON + 15 * MINUTE_MS);
  t.same(tally.day('2026-11-22'), { revenue: 70_000n, spent: 0n });

  await store.fulfil(outcome.claim, sampleAnswer(), { cost: '0.09', now: NOON + 20 * MINUTE_MS });
  for (const minutes of [21, 40]) await tally.count(NOON + minutes * MINUTE_MS);
  t.same(tally.day('2026-11-22'), { revenue: 70_000n, spent: 90_000_000_000n });
  t.same([...tally.sales()], [['image/sample', [{ paid: 70_000n, cost: 90_000_000_000n }]]]);
});
