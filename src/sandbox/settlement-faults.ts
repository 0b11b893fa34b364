/** Counts settlements and makes them fail on request, around a facilitator that really settles. */
import type { Network, NetworkId } from '../catalogue/types.ts';
import { type Settlement, unknown } from '../on-chain/settlement.ts';
import type { ChannelOperator } from '../payment/channels/operator.ts';
import type { EscrowOperator } from '../payment/escrow/escrow.ts';
import type { Facilitator } from '../payment/facilitators/facilitator.ts';
import { Faults } from './faults.ts';

export const SETTLEMENT_FAULTS = ['500', 'timeout', 'refuse', 'unknown'] as const;
export type SettlementFault = (typeof SETTLEMENT_FAULTS)[number];

interface WatchedSettlements {
  readonly facilitator: Facilitator;
  fault(network: NetworkId, fault: SettlementFault, count: number): void;
  clearFaults(network: NetworkId): void;
  /** Settlements that went through, by network. */
  settled(): Record<NetworkId, number>;
}

export function watchSettlements(inner: Facilitator, networks: readonly Network[]): WatchedSettlements {
  const faults = new Faults<SettlementFault>();
  const counts = new Map<NetworkId, number>();
  const idOf = (requirements: object): NetworkId => {
    const name = 'network' in requirements ? requirements.network : undefined;
    const found = networks.find(({ sandbox }) => sandbox.caip2 === name || sandbox.v1Name === name);
    return found?.id ?? String(name);
  };
  /** What takes money, with the fault that is asked for. */
  async function watched<Settled extends Settlement>(
    id: NetworkId,
    settle: () => Promise<Settled>,
  ): Promise<Settled | Settlement<never>> {
    const fault = faults.take(id);
    if (fault === 'refuse') return { state: 'refused', reason: 'the sandbox was told to refuse this settlement' };
    if (fault === '500' || fault === 'timeout')
      return { state: 'unknown', reason: `the facilitator gave no answer (${fault})` };
    const settlement = await settle();
    if (settlement.state === 'settled') counts.set(id, (counts.get(id) ?? 0) + 1);
    // The hardest case: the money has moved, and the answer that says so is lost.
    if (fault === 'unknown') return { state: 'unknown', reason: 'the answer of the settlement was lost' };
    return settlement;
  }

  /** An escrow refuses to take nothing that it holds, and whatever it was told to fail at stays locked. */
  const step = async (id: NetworkId, run: () => Promise<Settlement>): Promise<Settlement> => {
    let hasRun = false;
    const settlement = await watched(id, () => {
      hasRun = true;
      return run();
    });
    return hasRun || settlement.state === 'settled' ? settlement : unknown(settlement.reason);
  };

  const watchedEscrow = async (caip2: string): Promise<EscrowOperator | undefined> => {
    const operator = await inner.escrow?.(caip2);
    const id = idOf({ network: caip2 });
    return (
      operator && {
        ...operator,
        capture: (info, amount) => step(id, () => operator.capture(info, amount)),
        release: (info) => step(id, () => operator.release(info)),
      }
    );
  };

  const watchedChannels = async (caip2: string): Promise<ChannelOperator | undefined> => {
    const operator = await inner.channels?.(caip2);
    const id = idOf({ network: caip2 });
    return (
      operator && { ...operator, deposit: (config, deposit) => watched(id, () => operator.deposit(config, deposit)) }
    );
  };

  return {
    facilitator: {
      supported: () => inner.supported(),
      verify: (payload, requirements, signal) => inner.verify(payload, requirements, signal),
      settle: (payload, requirements, signal) =>
        watched(idOf(requirements), () => inner.settle(payload, requirements, signal)),
      escrow: watchedEscrow,
      channels: watchedChannels,
      ...(inner.accounts && { accounts: inner.accounts }),
      close: () => inner.close(),
    },
    fault: (network, fault, count) => faults.set(network, fault, count),
    clearFaults: (network) => faults.clear(network),
    settled: () => Object.fromEntries(counts),
  };
}
