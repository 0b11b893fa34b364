/** Payments that settle one by one on the model's chain. */
import { openChain } from './chain.ts';
import type { Money } from './money.ts';
import { openModelRail, PROOF, type Proof } from './rail.ts';
import type { SettledScenario } from './scenario.ts';
import { PRICE, soldBy } from './sold.ts';

export function openSettledMoney({ settlement, silences, isUpfront }: SettledScenario, time: () => number): Money {
  const chain = openChain({ answers: settlement, silences, amount: PRICE, time });
  return {
    route: soldBy('model'),
    idOf: ({ payment }) => payment,
    proof({ payment, identifier }, by) {
      const proof: Proof = { payment, by, ...(identifier && { identifier }) };
      return { [PROOF]: JSON.stringify(proof) };
    },
    inWords: (label) => label,
    openRail: ({ waits }) => openModelRail({ chain, waits, amount: PRICE, payer: 'payer', isUpfront }),
    noticed: (store) => store,
    begin: async () => {},
    isCharged: chain.isSpent,
    charged: chain.charged,
    mostUnpaidCalls: 3,
    fault: async () => undefined,
    faultOfReturn: () => undefined,
    faultAtTheEnd: () => undefined,
    steps: () =>
      chain.sent.flatMap((payment) => [
        { label: `the transaction of ${payment} lands`, happen: async () => chain.land(payment) },
        { label: `the transaction of ${payment} is lost`, happen: async () => chain.lose(payment) },
      ]),
    calmDown: chain.calmDown,
    state: async () => chain.state(),
  };
}
