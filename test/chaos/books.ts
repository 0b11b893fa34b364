/** What the gateways have written down, read from their store. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ApiKey, LedgerEntry } from '../../src/store/credits/credit-store.ts';
import { openStore } from '../../src/store/open.ts';
import type { Payment } from '../../src/store/store.ts';

export interface Books {
  /** By id. */
  readonly payments: ReadonlyMap<string, Payment>;
  /** Payments of purchases that wait until the chain has them deep enough. */
  readonly unconfirmed: readonly string[];
  readonly keys: readonly { readonly key: ApiKey; readonly entries: readonly LedgerEntry[] }[];
}

const ALL = 1_000_000;

export async function openBooks(where: Parameters<typeof openStore>[0]) {
  const store = await openStore(where);

  async function read(): Promise<Books> {
    const payments = await store.list({ limit: ALL });
    const keys = await store.credits.listKeys(Date.now());
    return {
      unconfirmed: await store.credits.unconfirmed(ALL),
      payments: new Map(payments.map((payment) => [payment.id, payment])),
      // Oldest first.
      keys: await Promise.all(
        keys.map(async (key) => ({ key, entries: (await store.credits.entries(key.id, ALL)).reverse() })),
      ),
    };
  }

  /** Tables are read one after the other: where a payment moved on meanwhile, they do not belong together. */
  const isStill = async ({ payments }: Books): Promise<boolean> =>
    isDeepStrictEqual([...payments.values()], await store.list({ limit: ALL }));

  return {
    credits: store.credits,
    /** Reads again and again until nothing is in between any more, or it has been long enough. */
    async readOnce(isDone: (books: Books) => boolean, patienceMs: number): Promise<Books> {
      const until = performance.now() + patienceMs;
      for (;;) {
        const books = await read();
        if (isDone(books) && (await isStill(books))) return books;
        if (performance.now() > until) return books;
        await delay(200);
      }
    },
    close: () => store.close(),
  };
}

/** Somebody works on it, or should. */
export const isUnderWay = ({ owner, state, answer }: Payment): boolean =>
  owner !== '' || state === 'claimed' || state === 'fulfilled' || (state === 'settled' && answer === undefined);
