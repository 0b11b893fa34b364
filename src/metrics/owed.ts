import type { Money } from '../money.ts';
import type { Payment, Store } from '../store/store.ts';

/** More than that is counted as that many: somebody has to look long before. */
const MOST = 10_000;

/** Payments that were settled and have no result, by the index of states. */
export async function owedIn(
  store: Pick<Store, 'list'>,
  worth: (moved: Pick<Payment, 'amount' | 'asset'>) => Money,
): Promise<{ results: number; worth: Money }> {
  const owed = await store.list({ states: ['owed'], withoutAnswers: true, limit: MOST });
  const amounts = owed.map(({ receipt, amount, asset }) => worth({ amount: receipt?.amount ?? amount, asset }));
  return { results: owed.length, worth: amounts.reduce((sum, each) => sum + each, 0n) };
}
