/** Goes on asking the chains about payments whose settlement had no answer. */
import type { Store } from '../store/store.ts';
import type { Rail } from './rail.ts';

export interface ReconcileParts {
  readonly store: Pick<Store, 'list' | 'resolve'>;
  readonly rails: readonly Rail[];
  now(): number;
}

/** One round over the unknown payments. Answers how many were resolved. */
export async function reconcile({ store, rails, now }: ReconcileParts): Promise<number> {
  let resolved = 0;
  for (const payment of await store.list({ states: ['unknown'], limit: 100 })) {
    const rail = rails.find((candidate) => candidate.name === payment.rail);
    const outcome = await rail?.outcome(payment.trace);
    if (!outcome || outcome.state === 'unknown') continue;
    const found = outcome.state === 'settled' ? { settled: outcome.receipt } : { unsettled: outcome.reason };
    if (await store.resolve(payment.id, found, now())) resolved += 1;
  }
  return resolved;
}
