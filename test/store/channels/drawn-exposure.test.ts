/** What a payer has under way, beside what it draws from a deposit. */
/** A call that is drawn from a deposit is paid for: it is none that its payer's balance has to cover. */
import t from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { claimAt, sampleFacts } from '../samples.ts';

t.test('what is covered by a deposit is not open', async (t) => {
  const store = openSqliteStore(':memory:', { now: () => 1 });
  t.teardown(() => store.close());
  const found = { balance: '1900000', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' };
  const facts = { id: `0x${'1'.repeat(64)}`, network: 'chain-a', payer: 'payer-1', config: '{}' };
  const draw = { facts, voucher: { max: '1900000', signature: 'x' }, amount: '1900000', deposit: '0', found };
  const drawn = await store.claim(
    { ...sampleFacts('channel:drawn'), amount: '1900000', settleUpfront: true },
    claimAt(1, { draw }),
  );
  t.match(drawn, { won: true, drawn: 'reserved' });
  const exposure = { perPayer: 2_000_000n, unproven: 500_000n, failures: 2, failuresSince: 0 };
  const exact = await store.claim({ ...sampleFacts('exact'), amount: '200000' }, claimAt(1, { exposure }));
  t.match(exact, { won: true, open: 0n, exceeds: undefined }, 'its balance need not cover 2.10');
});
