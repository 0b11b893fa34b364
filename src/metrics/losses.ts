/** Counts what is lost where it is written down, whoever finds out: the settle step, a retry or the reconciler. */
import type { Money } from '../money.ts';
import type { Payment, Store } from '../store/store.ts';
import type { Metrics } from './metrics.ts';

/** The same store. `worth` of a payment's amount, and `idOf` the network as the catalogue names it. */
export function countLosses(
  store: Store,
  metrics: Pick<Metrics, 'lost'>,
  { worth, idOf }: { worth(payment: Payment): Money; idOf(network: string): string },
): Store {
  const place = ({ network, route }: Pick<Payment, 'network' | 'route'>) => ({
    network: idOf(network),
    endpoint: route,
  });

  /** Ends a payment, and counts it where it was ended and had an answer: its work was done. */
  async function counted(id: string, end: () => Promise<boolean>): Promise<boolean> {
    const payment = await store.find(id);
    const ended = await end();
    if (ended && payment?.answer) {
      metrics.lost(place(payment), worth(payment));
    }
    return ended;
  }
  return {
    ...store,
    async claim(facts, options) {
      const outcome = await store.claim(facts, options);
      if (outcome.won) metrics.lost(place(facts), 0n);
      return outcome;
    },
    giveUp(claim, state, reason, now) {
      const end = () => store.giveUp(claim, state, reason, now);
      return state === 'unsettled' ? counted(claim.id, end) : end();
    },
    resolve(id, settlement, ...others) {
      const end = () => store.resolve(id, settlement, ...others);
      return settlement.state === 'refused' ? counted(id, end) : end();
    },
  };
}
