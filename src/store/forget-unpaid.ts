/** Payments that moved no money and never will, with what was written down in case they do. */
import { forgetPurchases, forgetUnusedKey } from './credits/credit-statements.ts';
import type { Engine } from './engines/engine.ts';
import { type Steps, unwatched } from './engines/steps.ts';
import { forgetPayments, unpaidBefore } from './forget-statements.ts';

/**
 * A few of those that were last touched before then. Answers how many. The payments are locked first: one that comes back at
 * that moment waits, and buys anew.
 */
export function* forgetUnpaid(before: number, { rowLock, among }: Pick<Engine, 'rowLock' | 'among'>): Steps<number> {
  const { rows } = yield unpaidBefore(before, rowLock);
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => String(id));
  const { rows: purchases } = yield forgetPurchases(ids, among);
  for (const { key_id: key, created_at: madeAt } of purchases)
    yield unwatched(forgetUnusedKey(String(key), Number(madeAt)));
  yield unwatched(forgetPayments(ids, among));
  return rows.length;
}
