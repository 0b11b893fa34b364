/** A whole gateway whose providers, node and facilitator answer when the test lets them. */
import type { Upstream } from '../src/catalogue/types.ts';
import type { Facilitator } from '../src/payment/facilitators/facilitator.ts';
import type { Sandbox } from '../src/sandbox/index.ts';
import { type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
import { type Gate, openGate, type Relay, relayTo } from './relay.ts';

interface RelayedGateway extends Gateway {
  /** Every upstream's answers pass here. */
  readonly upstreams: Relay;
  /** The node of `chain-c` that the gateway asks what became of payments. The facilitator has its own. */
  readonly node: Relay;
  /** The facilitator's answers pass here, once the money has moved. */
  readonly settlements: Gate;
  /** What is to be locked in the escrow passes here, before it is. */
  readonly locks: Gate;
  /** Stops the gateway, and goes on holding what is held. */
  drain(): Promise<void>;
}

export async function startRelayedGateway(options: GatewayOptions = {}): Promise<RelayedGateway> {
  const [settlements, locks] = [openGate(), openGate()];
  const relays: Relay[] = [];
  const relay = async (target: string): Promise<Relay> => {
    const opened = await relayTo(target);
    relays.push(opened);
    return opened;
  };
  const late = (facilitator: Facilitator): Facilitator => ({
    ...facilitator,
    async settle(...payment) {
      const settlement = await facilitator.settle(...payment);
      await settlements.pass();
      return settlement;
    },
    async escrow(caip2) {
      const operator = await facilitator.escrow?.(caip2);
      return (
        operator && {
          ...operator,
          async lock(...hold) {
            await locks.pass();
            return operator.lock(...hold);
          },
        }
      );
    },
  });
  const between = async (sandbox: Sandbox) => {
    const { state, trustedOrigins, baseUrlOf } = sandbox;
    const [origin = ''] = trustedOrigins;
    const upstreams = await relay(origin);
    const node = await relay((state as Gateway['state']).evm['chain-c']?.rpcUrl ?? '');
    return {
      baseUrlOf: (upstream: Upstream) => baseUrlOf?.(upstream)?.replace(origin, upstreams.url),
      trustedOrigins: [...trustedOrigins, upstreams.url],
      rpcUrl: (network: Parameters<Sandbox['rpcUrl']>[0]) =>
        network.id === 'chain-c' ? node.url : sandbox.rpcUrl(network),
      facilitators: sandbox.facilitators.map((named) => ({ ...named, facilitator: late(named.facilitator) })),
    };
  };
  const gateway = await startGateway({ ...options, between });
  const [upstreams, node] = relays;
  if (!upstreams || !node) throw new Error('the relays were not started');
  let stopped: Promise<void> | undefined;
  const drain = () => {
    stopped ??= gateway.stop();
    return stopped;
  };
  return {
    ...gateway,
    upstreams,
    node,
    settlements,
    locks,
    drain,
    async stop() {
      settlements.open();
      locks.open();
      for (const { gate } of relays) gate.open();
      await drain();
      await Promise.all(relays.map(({ stop }) => stop()));
    },
  };
}
