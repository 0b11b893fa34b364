/** Lists of the store that are longer than one answer. */
import type { Period } from './period.ts';
import type { Paid, PaidPosition, Store } from './store.ts';

export const PAGE = 1_000;

/** Payments that moved money, in the order in which they settled. */
export async function* paidIn(store: Pick<Store, 'paid'>, period: Period): AsyncGenerator<Paid> {
  let after: PaidPosition | undefined;
  do {
    const { payments, next } = await store.paid({ ...period, after, limit: PAGE });
    yield* payments;
    after = next;
  } while (after);
}

/** All pages of `PAGE` items of a list, one after the other. */
export async function* pages<Item>(read: (after: Item | undefined) => Promise<Item[]>): AsyncGenerator<Item> {
  let after: Item | undefined;
  do {
    const page = await read(after);
    yield* page;
    after = page.length < PAGE ? undefined : page.at(-1);
  } while (after);
}
