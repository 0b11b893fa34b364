/** The surroundings of the sandbox: local chains, funded wallets, and doubles of every upstream. */
import type { Catalogue } from '../catalogue/types.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import { localFacilitator } from '../payment/facilitators/local.ts';
import type { Surroundings } from '../surroundings.ts';
import { startChains } from './chains/index.ts';
import { startDoubles, UPSTREAM_FAULTS, type UpstreamFault } from './doubles/index.ts';
import { createSandboxRoutes } from './routes.ts';
import { SETTLEMENT_FAULTS, type SettlementFault, watchSettlements } from './settlement-faults.ts';

export interface Sandbox extends Surroundings {
  /** What `GET /sandbox` answers. */
  readonly state: object;
  /** Atomic units of a network's asset. */
  balance(network: string, address: string): Promise<bigint>;
}

export async function openSandbox(_config: Config, catalogue: Catalogue, log: Log): Promise<Sandbox> {
  const networks = [...catalogue.networks.values()];
  const upstreams = [...catalogue.upstreams.values()];
  const [chains, doubles] = await Promise.all([startChains({ networks, tempo: true }), startDoubles({ upstreams })]);
  const settlements = watchSettlements(localFacilitator(chains.facilitatorOptions), networks);
  const state = {
    mode: 'sandbox',
    evm: chains.evm,
    ...(chains.solana && { solana: chains.solana }),
    ...(chains.tempo && { tempo: chains.tempo }),
    payTo: chains.payTo,
  };
  log.info({ networks: Object.keys(chains.evm), doubles: doubles.origin }, 'sandbox started');
  return {
    mode: 'sandbox',
    state,
    balance: chains.balance,
    payTo: (network) => chains.payTo[network.id],
    rpcUrl: (network) => (network.family === 'solana' ? chains.solana?.rpcUrl : chains.evm[network.id]?.rpcUrl),
    facilitators: [{ name: 'in-process', facilitator: settlements.facilitator }],
    // The doubles check that a key comes along, not which.
    secretOf: (variable) => `sandbox-${variable.toLowerCase().replaceAll('_', '-')}`,
    baseUrlOf: (upstream) => doubles.baseUrlOf(upstream.name),
    trustedOrigins: [doubles.origin],
    resolve: undefined,
    headers: { 'turnpike-mode': 'sandbox' },
    routes: createSandboxRoutes({
      state,
      upstreams: upstreams.map(({ name }) => name),
      settlements: networks.map(({ id }) => id),
      upstreamFaults: UPSTREAM_FAULTS,
      settlementFaults: SETTLEMENT_FAULTS,
      faultUpstream: (name, fault, count) => doubles.fault(name, fault as UpstreamFault, count),
      faultSettlement: (name, fault, count) => settlements.fault(name, fault as SettlementFault, count),
      calls: () => ({ upstreams: doubles.calls(), settlements: settlements.settled() }),
    }),
    stop: async () => {
      await settlements.facilitator.close();
      await Promise.all([chains.stop(), doubles.close()]);
    },
  };
}
