/** Commands that move money where the database does what they ask, and its answer never comes. */
import t from 'tap';
import { openPostgresStore } from '../../src/store/engines/postgres.ts';
import { openCommands } from '../commands.ts';
import { startLossyRelay } from '../lossy-relay.ts';
import { startPostgres } from '../postgres.ts';
import { won } from '../store/arrivals.ts';
import { addFunded, keyOf, sampleHold } from '../store/credits/credit-samples.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
const relay = await startLossyRelay(t, url);
const store = await openPostgresStore(url);
t.teardown(() => store.close());

const command = openCommands(t);
const run = (name: string, ...words: string[]) => command(name, words, { DATABASE_URL: relay.url });

/** As a failed command says it. */
const reference = (err: string): string => /Repeat the command with (--reference) (\S+),/.exec(err)?.[2] ?? '';

t.test('a top-up is done once when it is repeated as the failure says', async (t) => {
  await addFunded(store, 1_000_000n);
  relay.loseNext('ledger');
  const failed = await run('keys', 'top-up', 'key', '50');
  t.match(failed, { code: 1, out: '', err: /it may be done, or not/ });
  t.equal((await keyOf(store)).balance, 51_000_000n);
  const again = await run('keys', 'top-up', 'key', '50', '--reference', reference(failed.err));
  t.match(again, { code: 0, out: 'key has 51 USD\n' });
  t.equal((await keyOf(store)).balance, 51_000_000n);
});

t.test('a part of a payment goes back once when it is repeated as the failure says', async (t) => {
  const claim = await won(store, sampleFacts('sold'), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { now: 2 });
  await store.settle(claim, sampleReceipt(), 3);
  const amounts = async () => (await store.refunds.of('sold')).map(({ amount }) => amount);
  relay.loseNext('refunds');
  const failed = await run('refund', 'sold', '--amount', '0.02');
  t.match(failed, { code: 1, out: '', err: /it may be done, or not/ });
  t.same(await amounts(), ['20000']);
  const again = ['refund', 'sold', '--reference', reference(failed.err), '--amount'] as const;
  t.match(await run(...again, '0.02'), { code: 0, out: /^0\.02 .* goes back to payer-1/ });
  t.match(await run(...again, '0.03'), { code: 1, err: /another amount was given back by the same reference/ });
  t.same(await amounts(), ['20000']);
});

t.test('a part of what a call was charged goes back once when it is repeated as the failure says', async (t) => {
  const before = (await keyOf(store)).balance;
  await store.credits.hold(sampleHold('call', 500_000n));
  await store.credits.settle('call', { price: 250_000n, note: 'used' }, 1_100);
  relay.loseNext('ledger');
  const failed = await run('refund', 'call', '--amount', '0.02');
  t.match(failed, { code: 1, out: '', err: /it may be done, or not/ });
  const again = ['refund', 'call', '--reference', reference(failed.err), '--amount'] as const;
  t.match(await run(...again, '0.02'), { code: 0, out: /^0\.02 USD are given back to key,/ });
  t.match(await run(...again, '0.03'), { code: 1, err: /another amount was given back by the same reference/ });
  t.equal((await keyOf(store)).balance, before - 230_000n);
});
