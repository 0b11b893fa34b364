/** Counts what is earned where its receipt is kept, whoever finds out: the settle step, a retry or the reconciler. */
import type { Money } from '../money.ts';
import type { Payment, Receipt, Store } from '../store/store.ts';
import type { Metrics } from './metrics.ts';

/** The same store. `worth` of what moved, and `idOf` the network as the catalogue names it. */
export function countReceipts(
  store: Store,
  metrics: Pick<Metrics, 'revenue'>,
  parts: { worth(moved: Pick<Payment, 'amount' | 'asset'>): Money; idOf(network: string): string },
): Store {
  const count = ({ rail, network, route, asset }: Payment, { amount }: Receipt) =>
    metrics.revenue({ endpoint: route, rail, network: parts.idOf(network) }, parts.worth({ amount, asset }));
  return {
    ...store,
    async settle(claim, receipt, now) {
      const isOurs = await store.settle(claim, receipt, now);
      const payment = await store.find(claim.id);
      // The first receipt stays: whoever wrote another has found out later, and counts nothing.
      const isFirst =
        payment?.receipt?.transaction === receipt.transaction && payment.receipt.settledAt === receipt.settledAt;
      if (isFirst) count(payment, receipt);
      return isOurs;
    },
    async resolve(id, settlement, now) {
      const payment = settlement.state === 'settled' ? await store.find(id) : undefined;
      const ended = await store.resolve(id, settlement, now);
      if (ended && payment && settlement.state === 'settled') count(payment, settlement.receipt);
      return ended;
    },
  };
}
