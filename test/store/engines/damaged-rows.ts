import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { existing, finished, unclaimable } from '../arrivals.ts';
import { claimAt, sampleFacts, sampleReceipt } from '../samples.ts';

/**
 * Rows that cannot be read are in nobody's way. `run` takes SQL text; `lines` are the details of what the store has
 * written to its log.
 */
export async function leavesDamagedRowsAlone(
  t: Test,
  store: Store,
  lines: readonly object[],
  run: (sql: string) => Promise<unknown>,
): Promise<void> {
  const exposure = { perPayer: 10n ** 30n, unproven: 10n ** 30n, failures: 9, failuresSince: 0 };
  for (const id of ['bad answer', 'bad receipt', 'sound']) await finished(store, id);
  for (const id of ['bad amount', 'lost']) await unclaimable.unsettled(store, id);
  await unclaimable.unknown(store, 'open');
  await run(`UPDATE payments SET answer = '{"secret":' WHERE id = 'bad answer';
    UPDATE payments SET receipt = '{"amount":"much"}', transaction_id = NULL WHERE id = 'bad receipt';
    UPDATE payments SET amount = '1e6' WHERE id IN ('bad amount', 'open')`);

  const ids = async (limit: number) => (await store.list({ limit, oldest: true })).map(({ id }) => id);
  t.same(await ids(10), ['lost', 'sound']);
  t.same(await ids(2), ['lost', 'sound'], 'and they take nobody’s place');
  t.same(await ids(1), ['lost'], 'nor make room for more than were asked for');
  const losses = await store.losses(0);
  t.match(losses, [{ payer: 'payer-1' }]);
  t.equal(losses.length, 1);
  t.same(
    (await store.sales({ since: 0, after: undefined, limit: 10 })).map(({ id }) => id),
    ['bad answer', 'sound'],
  );
  const period = { from: 0, to: Number.MAX_SAFE_INTEGER };
  t.same(
    (await store.paid({ ...period, after: undefined, limit: 10 })).payments.map(({ id }) => id),
    ['bad answer', 'sound'],
  );
  t.match(
    await store.claim(sampleFacts('next', { amount: '10' }), claimAt(9, { exposure })),
    { won: true, open: 0n, settleUpfront: false },
    'their payer pays on',
  );
  await t.rejects(store.find('bad answer'), { message: /payments\.answer cannot be read/ });
  t.same(
    lines.map((line) => (line as { payment: string }).payment).sort(),
    ['bad amount', 'bad answer', 'bad receipt', 'open'],
    'each is named once',
  );
  t.notMatch(JSON.stringify(lines), /secret|much|1e6/);

  t.equal(await store.figures.count(10), false, 'and what cannot be read counts as nothing');
  const revenue = 2n * BigInt(sampleReceipt().amount);
  t.match(await store.figures.money({ ...period, span: 'day' }), { sums: [{ settled: 3, revenue }], isWhole: true });
  t.match(await existing(store, 'sound'), { state: 'settled', receipt: sampleReceipt() });
}
