/** Counts what is earned where its receipt is kept, whoever finds out: the settle step, a retry or the reconciler. */
import type { Money } from '../money.ts';
import type { Payment, PaymentFacts, Receipt, Store } from '../store/store.ts';
import type { Metrics } from './metrics.ts';

/** What a receipt is counted by. */
type Facts = Pick<PaymentFacts, 'rail' | 'network' | 'route' | 'asset'>;

/** More are at work in no instance; what is forgotten is read again. */
const MOST_AT_WORK = 10_000;

/** The same store. `worth` of what moved, and `idOf` the network as the catalogue names it. */
export function countReceipts(
  store: Store,
  metrics: Pick<Metrics, 'revenue'>,
  parts: { worth(moved: Pick<Payment, 'amount' | 'asset'>): Money; idOf(network: string): string },
): Store {
  /** Payments in their first attempt: as long as it is theirs, nobody else has written a receipt. */
  const atWork = new Map<string, Facts>();
  const count = ({ rail, network, route, asset }: Facts, { amount }: Receipt) =>
    metrics.revenue({ endpoint: route, rail, network: parts.idOf(network) }, parts.worth({ amount, asset }));
  return {
    ...store,
    async claim(facts, options) {
      const outcome = await store.claim(facts, options);
      if (outcome.won && outcome.before === undefined) {
        const [oldest] = atWork.keys();
        if (atWork.size >= MOST_AT_WORK && oldest !== undefined) atWork.delete(oldest);
        atWork.set(facts.id, facts);
      }
      return outcome;
    },
    async settle(claim, receipt, ...others) {
      const isOurs = await store.settle(claim, receipt, ...others);
      const facts = claim.attempt === 1 && isOurs ? atWork.get(claim.id) : undefined;
      atWork.delete(claim.id);
      if (facts) {
        count(facts, receipt);
        return isOurs;
      }
      const payment = await store.find(claim.id);
      // The first receipt stays: whoever wrote another has found out later, and counts nothing.
      const isFirst =
        payment?.receipt?.transaction === receipt.transaction && payment.receipt.settledAt === receipt.settledAt;
      if (isFirst) count(payment, receipt);
      return isOurs;
    },
    giveUp(claim, ...end) {
      atWork.delete(claim.id);
      return store.giveUp(claim, ...end);
    },
    async resolve(id, settlement, ...others) {
      const payment = settlement.state === 'settled' ? await store.find(id) : undefined;
      const ended = await store.resolve(id, settlement, ...others);
      if (ended && payment && settlement.state === 'settled') count(payment, settlement.receipt);
      return ended;
    },
  };
}
