/** What is old enough to be forgotten, and comes into use again. */
import type { Store } from '../../../src/store/store.ts';
import { claimable, finished } from '../arrivals.ts';
import { sampleKey } from '../credits/credit-samples.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

const NOW = sampleReceipt().settledAt + 1_000;

/** What was last used before it is forgotten. */
export const LATE = { values: NOW, answers: NOW, payments: NOW, alerts: NOW } satisfies Parameters<Store['forget']>[0];

interface Used {
  /** The table whose rows are old. */
  readonly rows: string;
  old(store: Store): Promise<unknown>;
  use(store: Store): Promise<unknown>;
  isThere(store: Store): Promise<boolean>;
}

export const usedWhileForgotten: Record<string, Used> = {
  'a payment that is claimed again': {
    rows: 'payments',
    old: (store) => claimable.released(store, 'payment'),
    use: (store) => store.claim(sampleFacts('payment'), claimAt(NOW)),
    isThere: async (store) => (await store.find('payment'))?.state === 'claimed',
  },
  'a payment that is given back': {
    rows: 'payments',
    async old(store) {
      await finished(store, 'payment');
      await store.figures.count(10);
      await store.forget({ ...LATE, payments: undefined });
    },
    use: (store) =>
      store.refunds.want({ paymentId: 'payment', amount: 1n, reason: 'sorry', isAutomatic: false, now: NOW }),
    isThere: async (store) => (await store.find('payment')) !== undefined,
  },
  'an answer whose payment the chain takes back': {
    rows: 'payments',
    async old(store) {
      await finished(store, 'payment');
      await store.credits.purchase(
        { paymentId: 'payment', amount: 5n, key: sampleKey('key'), awaitsConfirmations: true },
        4,
      );
    },
    use: (store) => store.reopen('payment', 'taken back', NOW),
    isThere: async (store) => (await store.find('payment'))?.answer?.body === sampleAnswer().body,
  },
  'a value that is kept again': {
    rows: 'kept',
    old: (store) => store.keep('value', 'old', 1),
    use: (store) => store.keep('value', 'new', NOW),
    isThere: async (store) => (await store.cached('value', 1))?.value === 'new',
  },
  'an allowance that is spent': {
    rows: 'allowances',
    old: (store) => store.spendAllowances([{ name: 'payer', milliseconds: 10, longestMs: 1_000 }], 1),
    use: (store) => store.spendAllowances([{ name: 'payer', milliseconds: 10, longestMs: 1_000 }], NOW),
    isThere: async (store) => {
      const [wholeAt] = await store.spendAllowances([{ name: 'payer', milliseconds: 10, longestMs: 1_000 }], NOW);
      return wholeAt === NOW + 20;
    },
  },
};
